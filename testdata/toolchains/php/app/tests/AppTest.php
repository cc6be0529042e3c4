<?php

namespace Example\App\Tests;

use Example\App\App;
use PHPUnit\Framework\TestCase;

class AppTest extends TestCase
{
    public function testUsesTheLibrary(): void
    {
        $this->assertStringStartsWith('hello', (new App())->run());
    }
}

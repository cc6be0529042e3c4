<?php

namespace Example\Lib\Tests;

use Example\Lib\Greeter;
use PHPUnit\Framework\TestCase;

class GreeterTest extends TestCase
{
    public function testGreetsByName(): void
    {
        $this->assertSame('hello a', (new Greeter())->greet('a'));
    }
}

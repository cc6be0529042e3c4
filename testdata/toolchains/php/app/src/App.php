<?php

namespace Example\App;

use Example\Lib\Greeter;

class App
{
    public function run(): string
    {
        return (new Greeter())->greet('app');
    }
}

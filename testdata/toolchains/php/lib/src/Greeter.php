<?php

namespace Example\Lib;

class Greeter
{
    public function greet(string $name): string
    {
        return 'hello ' . $name;
    }
}

# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "example_app"
  spec.version = "1.0.0"
  spec.summary = "Checks what the library says"
  spec.authors = ["Nobody"]
  spec.files = Dir["lib/**/*.rb"]
  spec.add_dependency "example_lib"
  spec.add_dependency "minitest", ">= 5.0"
end

# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "example_lib"
  spec.version = "1.0.0"
  spec.summary = "Says what things are"
  spec.authors = ["Nobody"]
  spec.files = Dir["lib/**/*.rb"]
  spec.add_dependency "rainbow", "~> 3.0"
end

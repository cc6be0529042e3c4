# frozen_string_literal: true

require "example_lib"
require "minitest"

# ExampleApp has assertions about what the library says.
module ExampleApp
  include Minitest::Assertions

  def assert_described(value)
    assert_equal "<#{value}>", ExampleLib.describe(value)
  end
end

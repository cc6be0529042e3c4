# frozen_string_literal: true

require "minitest/autorun"
require "example_app"

class ExampleAppTest < Minitest::Test
  include ExampleApp

  def test_the_library_is_used
    assert_described "one"
  end
end

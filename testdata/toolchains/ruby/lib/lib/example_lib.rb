# frozen_string_literal: true

require "rainbow"

# ExampleLib says what things are.
module ExampleLib
  def self.describe(value)
    Rainbow::StringUtils.uncolor("<#{value}>")
  end
end

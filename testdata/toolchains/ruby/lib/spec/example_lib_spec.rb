# frozen_string_literal: true

require "example_lib"

RSpec.describe ExampleLib do
  it "puts values in brackets" do
    expect(described_class.describe("a")).to eq("<a>")
  end
end

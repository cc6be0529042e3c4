package snapshot

import "github.com/bentobuild/bento/adapters"

// JudgeNested returns the decision of judge about the directory of f, with the files that it read.
func JudgeNested(f *Files, judge func(*Files) (adapters.NestedAnswer, error)) (adapters.NestedAnswer, error) {
	answer, err := judge(f)
	answer.Reads = f.Reads()
	return answer, err
}

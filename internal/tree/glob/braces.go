package glob

import "fmt"

// maxArms bounds how many patterns the braces of one glob may stand for, and
// maxGlob how long one may be, in bytes.
const (
	maxArms = 256
	maxGlob = 4096
)

// expand gives the patterns without braces that pattern stands for. A "{" in a
// class or behind a backslash is none.
func expand(pattern string) ([]string, error) {
	todo, arms := []string{pattern}, []string(nil)
	for steps := 0; len(todo) > 0; steps++ {
		if steps > 4*maxArms {
			return nil, fmt.Errorf("it has too many braces")
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from := openBrace(p)
		if from < 0 {
			arms = append(arms, p)
			continue
		}
		choices, to := choices(p, from)
		if to < 0 {
			return nil, fmt.Errorf("a brace is not closed")
		}
		if len(arms)+len(todo)+len(choices) > maxArms {
			return nil, fmt.Errorf("its braces stand for more than %d patterns", maxArms)
		}
		for i := len(choices) - 1; i >= 0; i-- {
			todo = append(todo, p[:from]+choices[i]+p[to+1:])
		}
	}
	return arms, nil
}

// openBrace gives the position of the first brace, -1 when there is none.
func openBrace(p string) int {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(p, i)
		case '{':
			return i
		}
	}
	return -1
}

// classEnd gives the position of the bracket that closes the one at p[i], or the
// end of p.
func classEnd(p string, i int) int {
	for i++; i < len(p) && p[i] != ']'; i++ {
		if p[i] == '\\' {
			i++
		}
	}
	return i
}

// choices gives what stands between the brace at p[from] and the one that closes
// it, at to; to is -1 when none does.
func choices(p string, from int) (list []string, to int) {
	depth, start := 0, from+1
	for i := from; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return append(list, p[start:i]), i
			}
		case ',':
			if depth == 1 {
				list = append(list, p[start:i])
				start = i + 1
			}
		}
	}
	return nil, -1
}

/** Where a text stops being JSON, and what stands there. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly found: string
}

const stringPattern = /"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*"/uy
const scalarPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
const spacePattern = /[ \t\n\r]*/y

/**
 * Finds the place that JSON.parse stumbled over, which its own messages name only sometimes. Works without recursion,
 * so that deep nesting cannot exhaust the stack.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = []
  let at = 0
  let expects: 'value' | 'value or ]' | 'key' | 'key or }' | 'next' = 'value'
  const taken = (pattern: RegExp) => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at += match[0].length
    return match !== null
  }
  for (;;) {
    taken(spacePattern)
    const next = text[at]
    if (expects === 'next') {
      const inside = open.at(-1)
      if (inside === undefined) return next === undefined ? undefined : faultAt(text, at)
      if (next === ',') expects = inside === '{' ? 'key' : 'value'
      else if (next === (inside === '{' ? '}' : ']')) open.pop()
      else return faultAt(text, at)
      at += 1
    } else if (expects === 'key' || expects === 'key or }') {
      if (next === '}' && expects === 'key or }') {
        open.pop()
        at += 1
        expects = 'next'
      } else {
        if (!taken(stringPattern)) return faultAt(text, at)
        taken(spacePattern)
        if (text[at] !== ':') return faultAt(text, at)
        at += 1
        expects = 'value'
      }
    } else if (next === '{' || next === '[') {
      open.push(next)
      at += 1
      expects = next === '{' ? 'key or }' : 'value or ]'
    } else if (next === ']' && expects === 'value or ]') {
      open.pop()
      at += 1
      expects = 'next'
    } else if (taken(stringPattern) || taken(scalarPattern)) expects = 'next'
    else return faultAt(text, at)
  }
}

function faultAt(text: string, at: number): JsonFault {
  const before = text.slice(0, at)
  const found = text[at]
  return {
    line: before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
    found: found === undefined ? 'the end of the body' : JSON.stringify(found),
  }
}

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { longhornEngineSuite, needsLonghornEngine } from './find-longhorn-engine.ts'

const choices: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
  'all suites run, so the engine is built': [[], true],
  'a suite without it is named, and nobody waits for Go and a C compiler': [['longhorn-brain'], false],
  'all suites about Longhorn are named at once': [['longhorn'], true],
}
it.each(Object.entries(choices))('%s', (_, [chosen, needed]) => {
  expect(needsLonghornEngine(chosen)).toBe(needed)
})

it('the suite that it is built for is there under this name', () => {
  expect(existsSync(fileURLToPath(new URL(`../${longhornEngineSuite}`, import.meta.url)))).toBe(true)
})

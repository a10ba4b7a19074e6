import { describe, expect, it } from 'vitest'
import { atItsPlace } from './native-modules.ts'

const folder = `${process.cwd()}/.cofferdam/native-${process.pid}`
const compiled = (line: string) => atItsPlace(line, '/checkout/packages/simulator/src/world/clock.js')

describe('a module that Node.js loads from another folder', () => {
  const cases: Readonly<Record<string, readonly [line: string, expected: string]>> = {
    'imports its compiled neighbour: the source beside it would be a second copy of the same state': [
      'import { rest } from "./rest.ts";',
      'import { rest } from "./rest.js";',
    ],
    'imports what it needs later in the same way': ['await import("../late.ts")', 'await import("../late.js")'],
    'imports compiled modules of other workspaces, and not what npm has linked': [
      'export * from "@cofferdam/product/safety/verdict.ts";',
      `export * from "file://${folder}/packages/cofferdam/src/safety/verdict.js";`,
    ],
    'leaves packages to npm': ['import { z } from "zod";', 'import { z } from "zod";'],
    'reads data where it is kept: it is not compiled': [
      'import schemas from "../schemas.json" with { type: "json" };',
      'import schemas from "file:///checkout/packages/simulator/src/schemas.json" with { type: "json" };',
    ],
    'finds files beside its source': [
      'new URL("./sample.txt", import.meta.url)',
      'new URL("./sample.txt", "file:///checkout/packages/simulator/src/world/clock.ts")',
    ],
    'finds folders beside its source': [
      'join(import.meta.dirname, "samples")',
      'join("/checkout/packages/simulator/src/world", "samples")',
    ],
    'keeps texts that only resemble an import': ['const file = "./rest.ts";', 'const file = "./rest.ts";'],
  }
  it.each(Object.entries(cases))('%s', (_, [line, expected]) => expect(compiled(line)).toBe(expected))
})

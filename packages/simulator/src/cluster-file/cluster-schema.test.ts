import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import { clusterSchema } from './cluster-schema.ts'

const page = readFileSync(new URL('../../../../docs/reference/cluster-file.md', import.meta.url), 'utf8')

/** Fields of every section of the page, by heading: `apps[].pdb` and so on, '' for the file itself. */
function documentedFields(): Record<string, string[]> {
  const sections = page.split(/^## /m).slice(1)
  return Object.fromEntries(
    sections.map((section) => {
      const heading = /^`(.+)`$/m.exec(section.split('\n', 1)[0] as string)?.[1] ?? ''
      return [heading, [...section.matchAll(/^\| `(\w+)` \|/gm)].map((row) => row[1] as string).sort()]
    }),
  )
}

/** Fields of every mapping of the schema with fixed fields, by the same headings. */
function schemaFields(schema: z.core.$ZodType, path = '', found: Record<string, string[]> = {}) {
  const { def } = schema._zod as unknown as {
    def: {
      type: string
      innerType?: z.core.$ZodType
      element?: z.core.$ZodType
      shape?: Record<string, z.core.$ZodType>
    }
  }
  if (def.innerType !== undefined) schemaFields(def.innerType, path, found)
  else if (def.element !== undefined) schemaFields(def.element, `${path}[]`, found)
  else if (def.shape !== undefined) {
    found[path] = Object.keys(def.shape).sort()
    for (const [field, child] of Object.entries(def.shape)) {
      schemaFields(child, path === '' ? field : `${path}.${field}`, found)
    }
  }
  return found
}

it('the reference describes every field of the cluster file, and no other', () => {
  const { 'jobs[].requests': sameAsOfApps, ...fields } = schemaFields(clusterSchema)
  expect(sameAsOfApps).toEqual(fields['apps[].requests'])
  expect(documentedFields()).toEqual(fields)
})

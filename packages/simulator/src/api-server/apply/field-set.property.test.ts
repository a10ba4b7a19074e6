import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { difference, intersection, isSameFieldSet, parseFieldSet, pathsOf, union } from './field-set.ts'
import type { FieldSet } from './field-set-builder.ts'

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1')

/** A set is made from the paths it should hold, so that the model below is the plain set of these paths. */
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 })

function setOf(members: readonly (readonly string[])[]): FieldSet | undefined {
  return members.reduce<FieldSet | undefined>(
    (all, member) => union(all, parseFieldSet(member.reduceRight<object>((below, step) => ({ [step]: below }), {}))),
    undefined,
  )
}

function listed(set: FieldSet | undefined): string[] {
  return [...pathsOf(set)].toSorted()
}

function model(members: readonly (readonly string[])[]): Set<string> {
  return new Set(listed(setOf(members)))
}

describe('sets of fields, whatever their members', () => {
  it('follow the laws of sets', () => {
    fc.assert(
      fc.property(paths, paths, (one, two) => {
        const [left, right] = [setOf(one), setOf(two)]
        const [a, b] = [model(one), model(two)]
        expect(new Set(one.map((member) => member.join('/'))).size).toBe(a.size)
        expect(listed(union(left, right))).toEqual([...new Set([...a, ...b])].toSorted())
        expect(listed(intersection(left, right))).toEqual([...a].filter((path) => b.has(path)).toSorted())
        expect(listed(difference(left, right))).toEqual([...a].filter((path) => !b.has(path)).toSorted())
      }),
    )
  })

  it('are the same however they came about and whatever way they travelled', () => {
    fc.assert(
      fc.property(paths, paths, (one, two) => {
        const forwards = setOf([...one, ...two])
        const backwards = setOf([...two.toReversed(), ...one.toReversed()])
        const sent: unknown = JSON.parse(JSON.stringify(forwards ?? {}))
        expect(JSON.stringify(forwards)).toBe(JSON.stringify(backwards))
        expect(isSameFieldSet(forwards, backwards)).toBe(true)
        expect(isSameFieldSet(parseFieldSet(sent), forwards)).toBe(true)
      }),
    )
  })
})

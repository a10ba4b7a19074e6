import { expect, it } from 'vitest'
import { decideLonghornDrain } from '../decide.ts'
import { type Fixture, gist, longhornFixture } from './longhorn-fixture.ts'

type Gist = ReturnType<typeof gist>

/** By a sentence: what is seen, and what the decision comes to in the points that the sentence is about. */
export type DecisionTable = Readonly<Record<string, readonly [Fixture, Partial<Gist>]>>

export function tellDecisions(table: DecisionTable, policy?: string): void {
  it.each(Object.entries(table))('%s', (_, [fixture, expected]) => {
    const seen = gist(decideLonghornDrain(longhornFixture(policy === undefined ? fixture : { policy, ...fixture })))
    const asked = Object.fromEntries(Object.keys(expected).map((key) => [key, seen[key as keyof Gist]]))
    expect(asked).toEqual(expected)
  })
}

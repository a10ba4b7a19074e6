import type {
  LonghornDescription,
  VolumeDescription,
} from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { expect } from 'vitest'
import {
  type LonghornFixture,
  type LonghornFixtureOptions,
  openLonghornFixture,
  type StagedDrain,
} from './longhorn-fixture.ts'

export const mib = 1024 ** 2
/** So that a drain can be watched while copies are rebuilt. */
export const slowly = { rebuildBytesPerSecond: 8 * mib }
const filled = { filled: 0.25, sizeBytes: 256 * mib }

export const single: VolumeDescription = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...filled }
export const pair: VolumeDescription = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...filled }
export const trio: VolumeDescription = {
  name: 'trio',
  numberOfReplicas: 3,
  placedOn: ['node-1', 'node-2', 'node-3'],
  ...filled,
}

/** The operator is there with its guard, and has made its budgets. */
export async function openAttended(
  description: LonghornDescription,
  options: LonghornFixtureOptions = {},
): Promise<LonghornFixture> {
  const fixture = await openLonghornFixture(description, options)
  fixture.operate({ isGuard: true })
  await fixture.seconds(5)
  return fixture
}

/** The drain is still not over after so long. */
export async function isHeldFor(fixture: LonghornFixture, node: string, seconds: number): Promise<StagedDrain> {
  const drain = fixture.drain(node)
  await fixture.seconds(seconds)
  if (drain.isOver()) await drain.ended
  expect(drain.isOver()).toBe(false)
  return drain
}

export function expectNothingBroken(fixture: LonghornFixture, ...volumes: readonly string[]): void {
  expect(fixture.oracle.violations).toEqual([])
  expect(volumes.filter((volume) => !fixture.isIntact(volume))).toEqual([])
}

import type {
  LonghornDescription,
  VolumeDescription,
} from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { expect } from 'vitest'
import { type LonghornStage, type LonghornStageOptions, openLonghornStage, type StagedDrain } from './longhorn-stage.ts'

export const mib = 1024 ** 2
const filled = { filled: 0.25, sizeBytes: 256 * mib }

export const single: VolumeDescription = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...filled }
export const pair: VolumeDescription = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...filled }
export const trio: VolumeDescription = {
  name: 'trio',
  numberOfReplicas: 3,
  placedOn: ['node-1', 'node-2', 'node-3'],
  ...filled,
}

/** The operator is there, and has made its budgets. */
export async function openAttended(
  description: LonghornDescription,
  options: LonghornStageOptions = {},
): Promise<LonghornStage> {
  const stage = await openLonghornStage(description, options)
  stage.operate()
  await stage.seconds(5)
  return stage
}

/** The drain is still not over after so long. */
export async function isHeldFor(stage: LonghornStage, node: string, seconds: number): Promise<StagedDrain> {
  const drain = stage.drain(node)
  await stage.seconds(seconds)
  expect(drain.isOver()).toBe(false)
  return drain
}

export function expectNothingBroken(stage: LonghornStage, ...volumes: readonly string[]): void {
  expect(stage.oracle.violations).toEqual([])
  expect(volumes.filter((volume) => !stage.isIntact(volume))).toEqual([])
}

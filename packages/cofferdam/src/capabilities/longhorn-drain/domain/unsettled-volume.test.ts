import type { LonghornEngine, LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { expect, it } from 'vitest'
import { unsettledOf } from './unsettled-volume.ts'

const engine = { spec: { volumeName: 'v', active: true } }
const spec = { migrationNodeID: '', image: 'engine:v1' }
const status = { currentMigrationNodeID: '', currentImage: 'engine:v1' }

interface Seen {
  readonly spec?: object
  readonly status?: object
  readonly engines?: readonly Pick<LonghornEngine, 'spec'>[]
}

const table: Record<string, readonly [Seen, string | undefined]> = {
  'one engine, one image, no migration: nothing is under way': [{}, undefined],
  'another image is wanted than runs: an engine upgrade': [
    { spec: { image: 'engine:v2' } },
    'its engine is upgraded to engine:v2',
  ],
  'a migration is asked for': [{ spec: { migrationNodeID: 'n2' } }, 'it migrates to node n2'],
  'a migration is asked for no more but not taken back yet': [
    { status: { currentMigrationNodeID: 'n2' } },
    'it migrates to node n2',
  ],
  'two engines, whatever the fields say': [{ engines: [engine, engine] }, 'it has 2 engines'],
  'no engine that is known': [{ engines: [] }, 'it has no engine'],
  'an engine that is not the active one': [{ engines: [{ spec: { active: false } }] }, 'its engine is not active'],
  'an image that is not there': [{ spec: { image: undefined } }, 'its spec.image is not known'],
  'an image that runs and is empty': [{ status: { currentImage: '' } }, 'its status.currentImage is not known'],
  'a field that Longhorn always writes is missing': [
    { status: { currentMigrationNodeID: undefined } },
    'its status.currentMigrationNodeID is not known',
  ],
  'a field that is no text': [{ spec: { migrationNodeID: 7 } }, 'its spec.migrationNodeID is not known'],
}

it.each(Object.entries(table))('%s', (_, [seen, expected]) => {
  const volume = { spec: { ...spec, ...seen.spec }, status: { ...status, ...seen.status } }
  expect(unsettledOf(volume as unknown as LonghornVolume, seen.engines ?? [engine])).toBe(expected)
})

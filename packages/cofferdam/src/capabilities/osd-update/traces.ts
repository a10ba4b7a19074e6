import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { configMaps, deployments, jobs } from '@cofferdam/kubernetes/api/resources.ts'
import { mergePatch, type Removal, type Trace, trace, withoutKeys } from '../../shared/trace.ts'
import { appliedAnnotation } from './domain/applied-settings.ts'
import { doNotReconcile, paceHoldOf } from './domain/pace-label.ts'
import {
  generationAnnotation,
  nonceAnnotation,
  placeAnnotation,
  troubleAnnotation,
  usedAnnotation,
} from './domain/prepare-status.ts'
import { overrideName, passKey } from './domain/rook-pass.ts'
import { updateStartedAnnotation } from './domain/update-mark.ts'
import { updateRecordName } from './domain/update-record.ts'

const prepareKeys = [generationAnnotation, placeAnnotation, nonceAnnotation, usedAnnotation, troubleAnnotation]
const osdKeys = [updateStartedAnnotation, appliedAnnotation]

export const osdUpdateTraces: readonly Trace[] = [
  trace({
    type: configMaps,
    place: 'ceph',
    keys: prepareKeys,
    removal(map) {
      const { name } = map.metadata
      if (name.startsWith(updateRecordName({ name: '' }))) return { verb: 'delete', says: 'record of osd-update' }
      if (name !== overrideName) return prepared(map, 'result of a prepare Job')
      if (map.data?.[passKey] === undefined) return undefined
      return mergePatch(map, `key ${passKey}`, { data: { [passKey]: null } })
    },
  }),
  trace({ type: jobs, place: 'ceph', keys: prepareKeys, removal: (job) => prepared(job, 'prepare Job') }),
  trace({
    type: deployments,
    place: 'ceph',
    keys: osdKeys,
    removal(osd) {
      const isPaced = paceHoldOf(osd) === 'ours'
      // The annotation of its pods stays: without it Kubernetes would restart the OSD.
      return withoutKeys(osd, { annotations: osdKeys, labels: isPaced ? [doNotReconcile] : [] })
    },
  }),
]

/** Only those that Cofferdam made: Rook's have the same names. */
function prepared({ metadata }: KubeObject, says: string): Removal | undefined {
  return metadata.annotations?.[generationAnnotation] === undefined ? undefined : { verb: 'delete', says }
}

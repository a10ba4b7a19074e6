import type { LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { parseVolume, type VolumeSurroundings } from './parse-volume.ts'

const longhorn = { apiVersion: 'longhorn.io/v1beta2' }
const alone: VolumeSurroundings = {
  attachment: undefined,
  engines: [],
  classPolicy: undefined,
  softAntiAffinity: undefined,
  longhornVersion: undefined,
}
const workloads = { kubernetesStatus: { namespace: 'shop', workloadsStatus: [{ podName: 'b' }, { podName: 'a' }, {}] } }

function viewOf(given: { spec?: object; status?: object; tickets?: Record<string, string> }) {
  const { spec = {}, status = {}, tickets } = given
  const metadata = { name: 'db' }
  const volume = {
    ...longhorn,
    kind: 'Volume',
    metadata,
    spec: { numberOfReplicas: 2, ...spec },
    status: { state: 'attached', ...status },
  } as LonghornVolume
  const attachmentTickets = Object.fromEntries(
    Object.entries(tickets ?? {}).map(([id, type]) => [id, { id, type, nodeID: 'n1' }]),
  )
  const attachment = { ...longhorn, kind: 'VolumeAttachment', metadata, spec: { attachmentTickets } }
  const parsed = parseVolume(volume, {
    ...alone,
    attachment: tickets === undefined ? undefined : (attachment as VolumeSurroundings['attachment']),
  })
  return 'view' in parsed ? parsed.view : undefined
}

describe('who has a volume attached, so that an administrator knows whom to ask', () => {
  const table: Record<string, { readonly given: Parameters<typeof viewOf>[0]; readonly by: string | undefined }> = {
    'pods, in the order of their names': { given: { status: workloads }, by: 'pod shop/a, pod shop/b' },
    'pods, by the ticket of the CSI driver, once': {
      given: { status: workloads, tickets: { x: 'csi-attacher', y: 'csi-attacher' } },
      by: 'pod shop/a, pod shop/b',
    },
    'a workload, where no pod is named': { given: { tickets: { x: 'csi-attacher' } }, by: 'a workload' },
    'the UI and Longhorn itself, by their tickets in order': {
      given: { tickets: { x: 'snapshot-controller', y: 'longhorn-api', z: 'longhorn-api' } },
      by: "the Longhorn UI, Longhorn's snapshot-controller",
    },
    'pods, where the tickets say nothing': {
      given: { status: workloads, tickets: { x: '' } },
      by: 'pod shop/a, pod shop/b',
    },
    'nobody that is known': { given: { tickets: { x: '' } }, by: undefined },
    'nobody, where there are neither tickets nor pods': { given: {}, by: undefined },
    'nobody, where it is detached': { given: { status: { ...workloads, state: 'detached' } }, by: undefined },
  }
  it.each(Object.entries(table))('%s', (_, { given, by }) => {
    expect(viewOf(given)?.attachedBy).toBe(by)
  })
})

describe('what is not what it should be', () => {
  it('a health that Longhorn does not have counts as unknown: it must not pass for a healthy one', () => {
    expect(viewOf({ status: { robustness: 'fine' } })?.robustness).toBe('unknown')
  })

  it.each([[[]], [['ssd', 7]], ['ssd']])('tags that are none are not known, and deny no place: %j', (tags) => {
    expect(viewOf({ spec: { nodeSelector: tags, diskSelector: tags } })).toMatchObject({
      nodeTags: undefined,
      diskTags: undefined,
    })
  })

  it('tags that are some are kept', () => {
    expect(viewOf({ spec: { nodeSelector: ['a'], diskSelector: ['ssd'] } })).toMatchObject({
      nodeTags: ['a'],
      diskTags: ['ssd'],
    })
  })

  it('a copy that cannot be scheduled is a problem also where Longhorn gives no reason', () => {
    const conditions = (more: object) => ({ conditions: [{ type: 'Scheduled', status: 'False', ...more }] })
    expect([
      viewOf({ status: conditions({}) })?.schedulingProblem,
      viewOf({ status: conditions({ reason: 'ReplicaSchedulingFailure', message: 'no disk' }) })?.schedulingProblem,
    ]).toEqual(['no reason is given', 'ReplicaSchedulingFailure: no disk'])
  })
})

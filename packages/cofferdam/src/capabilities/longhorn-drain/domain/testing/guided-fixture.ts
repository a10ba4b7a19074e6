import type { LonghornNode, LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { known } from '../../../../shared/observed.ts'
import { decideLonghornDrain } from '../decide.ts'
import { parseDrainSettings } from '../drain-settings.ts'
import { decideGuidance } from '../guidance.ts'
import type { GuidanceDecision, GuidanceStep } from '../guidance-decision.ts'
import { parseGuidanceMarks } from '../guidance-marks.ts'
import type { LonghornSnapshot } from '../snapshot.ts'
import { longhornFixture, type NodeSetting, type VolumeSetting } from './longhorn-fixture.ts'

/** The objects that a guide may change, as Kubernetes has them, and what lies around them. */
export interface GuidedObjects {
  readonly setting: { readonly value: string; readonly notes: Readonly<Record<string, string>> }
  readonly nodes: Readonly<Record<string, GuidedNode>>
  readonly volumes?: Readonly<Record<string, VolumeSetting>>
}

export interface GuidedNode extends Omit<NodeSetting, 'disks'> {
  /** Of its only disk, d1. */
  readonly evict?: boolean
  readonly schedule?: boolean
  /** Whether the node as a whole takes replicas. */
  readonly takes?: boolean
  /** The annotation `cofferdam.io/asked`. */
  readonly asked?: string
}

export function lookAt({ setting, nodes, volumes = {} }: GuidedObjects): {
  readonly snapshot: LonghornSnapshot
  readonly guidance: GuidanceDecision
} {
  const settings = [settingObject(setting)]
  const fixture = longhornFixture({
    nodes: Object.fromEntries(Object.entries(nodes).map(surroundings)),
    volumes,
  })
  const snapshot = {
    ...fixture,
    settings: parseDrainSettings(settings, { budgets: [], manager: known(undefined), nowMs: 0 }),
  }
  const marks = parseGuidanceMarks({ settings, nodes: Object.entries(nodes).map(nodeObject) })
  return { snapshot, guidance: decideGuidance(snapshot, decideLonghornDrain(snapshot), marks) }
}

/** The objects after one step was written. Throws where Longhorn would refuse it. */
export function applyStep(seen: GuidedObjects, { kind, name, annotations, value, spec }: GuidanceStep): GuidedObjects {
  if (kind === 'setting') {
    const notes = { ...seen.setting.notes }
    for (const [key, text] of Object.entries(annotations)) {
      if (text === null) delete notes[key]
      else notes[key] = text
    }
    return { ...seen, setting: { value: value ?? seen.setting.value, notes } }
  }
  const { asked: _, ...node } = seen.nodes[name] ?? {}
  const asked = annotations['cofferdam.io/asked']
  const disk = spec?.disks?.['d1']
  const changed: GuidedNode = {
    ...node,
    ...(spec?.evictionRequested === undefined ? {} : { isEvictionAsked: spec.evictionRequested }),
    ...(spec?.allowScheduling === undefined ? {} : { takes: spec.allowScheduling }),
    evict: disk?.evictionRequested ?? node.evict ?? false,
    schedule: disk?.allowScheduling ?? node.schedule ?? true,
    ...(typeof asked === 'string' ? { asked } : {}),
  }
  if (changed.evict === true && changed.schedule === true)
    throw new Error(`disk d1 of ${name}: disable scheduling first`)
  return { ...seen, nodes: { ...seen.nodes, [name]: changed } }
}

function surroundings([name, guided]: [string, GuidedNode]): [string, NodeSetting] {
  const { evict = false, schedule = true, takes: _, asked: __, ...node } = guided
  const disk = { name: 'd1', uuid: `disk-${name}`, isEvictionAsked: evict, allowScheduling: schedule }
  return [name, { ...node, disks: [disk] }]
}

function settingObject({ value, notes }: GuidedObjects['setting']): LonghornSetting {
  const metadata = { name: 'node-drain-policy', annotations: notes }
  return { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata, value }
}

function nodeObject([name, { isEvictionAsked = false, takes = true, asked }]: [string, GuidedNode]): LonghornNode {
  const annotations = asked === undefined ? {} : { 'cofferdam.io/asked': asked }
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Node',
    metadata: { name, annotations },
    spec: { evictionRequested: isEvictionAsked, allowScheduling: takes },
  }
}

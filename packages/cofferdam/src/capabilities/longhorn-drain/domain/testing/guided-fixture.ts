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

export interface GuidedNode extends Omit<NodeSetting, 'isEvictionAsked'> {
  readonly evict?: boolean
  readonly schedule?: boolean
  /** The annotation `cofferdam.io/asked`. */
  readonly asked?: string
}

export function lookAt({ setting, nodes, volumes = {} }: GuidedObjects): {
  readonly snapshot: LonghornSnapshot
  readonly guidance: GuidanceDecision
} {
  const settings = [settingObject(setting)]
  const fixture = longhornFixture({
    nodes: Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, surroundings(node)])),
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
  const changed: GuidedNode = {
    ...node,
    evict: spec?.evictionRequested ?? node.evict ?? false,
    schedule: spec?.allowScheduling ?? node.schedule ?? true,
    ...(typeof asked === 'string' ? { asked } : {}),
  }
  if (changed.evict === true && changed.schedule === true) throw new Error(`node ${name}: disable scheduling first`)
  return { ...seen, nodes: { ...seen.nodes, [name]: changed } }
}

function surroundings(guided: GuidedNode): NodeSetting {
  const { evict = false, schedule: _, asked: __, ...node } = guided
  return { ...node, isEvictionAsked: evict }
}

function settingObject({ value, notes }: GuidedObjects['setting']): LonghornSetting {
  const metadata = { name: 'node-drain-policy', annotations: notes }
  return { apiVersion: 'longhorn.io/v1beta2', kind: 'Setting', metadata, value }
}

function nodeObject([name, { evict = false, schedule = true, asked }]: [string, GuidedNode]): LonghornNode {
  const annotations = asked === undefined ? {} : { 'cofferdam.io/asked': asked }
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Node',
    metadata: { name, annotations },
    spec: { evictionRequested: evict, allowScheduling: schedule },
  }
}

import type { LonghornNode, LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { putAnnotation, restoresAnnotation, wantedPolicyAnnotation } from './drain-settings.ts'
import { drainPolicySetting, parseDrainPolicy } from './policy.ts'
import { Reading } from './reading.ts'

/** On Longhorn's Node, while we have asked for disks of it to be emptied: how their fields were before. */
export const askedAnnotation = 'cofferdam.io/asked'

/** What the guide has changed so far, as it is written on the objects themselves; nothing else remembers it. */
export interface GuidanceMarks {
  /** Undefined: there is no such setting. */
  readonly setting: SettingMark | undefined
  /** By the name of the node. */
  readonly nodes: ReadonlyMap<string, NodeMark>
}

export interface SettingMark {
  readonly value: string
  /** Somebody says which policy is wanted; else the setting's own value is. */
  readonly hasWish: boolean
  /** What to put back; undefined: nothing was changed. */
  readonly restores: Observed<string> | undefined
  /** What we put there; '': somebody else changed it since; undefined: it is not written down. */
  readonly put: string | undefined
}

export interface NodeMark {
  readonly allowScheduling: boolean
  /** Undefined: we asked for nothing. */
  readonly asked: Observed<AskedMark> | undefined
}

export interface AskedMark {
  /** As an earlier version asked: for the whole node. It is taken back, and never asked again. */
  readonly node: Asked | undefined
  /** By the key of the disk in `spec.disks`. */
  readonly disks: ReadonlyMap<string, Asked>
}

export interface Asked {
  /** Before we asked. */
  readonly allowScheduling: boolean
  /** Somebody else lowered the flag, so whatever it says now is his. */
  readonly isYielded: boolean
}

export function parseGuidanceMarks(objects: {
  readonly settings: readonly LonghornSetting[]
  readonly nodes: readonly LonghornNode[]
}): GuidanceMarks {
  const setting = objects.settings.find(({ metadata }) => metadata.name === drainPolicySetting)
  return {
    setting: setting === undefined ? undefined : parseSettingMark(setting),
    nodes: new Map(objects.nodes.map((node) => [node.metadata.name, parseNodeMark(node)])),
  }
}

/** Whether anything is left to take back, so that a Longhorn that is not guided any more is reconciled once more. */
export function hasGuidanceMarks({ setting, nodes }: GuidanceMarks): boolean {
  return setting?.restores !== undefined || [...nodes.values()].some(({ asked }) => asked !== undefined)
}

export function buildAskedMark({ node, disks }: AskedMark): string {
  const named = [...disks]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, asked]) => [name, written(asked)])
  return JSON.stringify({
    ...(node === undefined ? {} : written(node)),
    ...(named.length === 0 ? {} : { disks: Object.fromEntries(named) }),
  })
}

function written({ allowScheduling, isYielded }: Asked): Readonly<Record<string, boolean>> {
  return { allowScheduling, ...(isYielded ? { yielded: true } : {}) }
}

function parseSettingMark({ metadata, value }: LonghornSetting): SettingMark {
  const see = new Reading()
  const notes = see.fields(metadata.annotations, 'annotations')
  const restores = notes[restoresAnnotation]
  const put = notes[putAnnotation]
  return {
    value: see.text(value, 'value'),
    hasWish: see.text(notes[wantedPolicyAnnotation], 'wish') !== '',
    restores: restores === undefined ? undefined : parseRestores(restores),
    put: typeof put === 'string' ? put : undefined,
  }
}

/** As it was spelled. What is none of the policies never was what we replaced. */
function parseRestores(text: unknown): Observed<string> {
  const policy = parseDrainPolicy(text)
  return policy.known ? known(text as string) : policy
}

function parseNodeMark({ metadata, spec }: LonghornNode): NodeMark {
  const see = new Reading()
  const asked = see.fields(metadata.annotations, 'annotations')[askedAnnotation]
  return {
    allowScheduling: see.flag(see.fields(spec, 'spec')['allowScheduling'], 'spec.allowScheduling'),
    asked: asked === undefined ? undefined : parseAskedMark(asked),
  }
}

function parseAskedMark(text: unknown): Observed<AskedMark> {
  const problem = unknown(`annotation ${askedAnnotation} is not like {"disks":{"NAME":{"allowScheduling":true}}}`)
  try {
    const mark: unknown = JSON.parse(typeof text === 'string' ? text : '')
    if (!isRecord(mark)) return problem
    const { disks = {}, ...own } = mark
    const node = Object.keys(own).length === 0 ? undefined : parseAsked(own)
    if (!isRecord(disks) || node === 'unreadable') return problem
    const named = new Map<string, Asked>()
    for (const [name, each] of Object.entries(disks)) {
      const asked = parseAsked(each)
      if (asked === 'unreadable') return problem
      named.set(name, asked)
    }
    return node === undefined && named.size === 0 ? problem : known({ node, disks: named })
  } catch {
    return problem
  }
}

function parseAsked(value: unknown): Asked | 'unreadable' {
  if (!isRecord(value)) return 'unreadable'
  const { allowScheduling, yielded = false } = value
  const isReadable = typeof allowScheduling === 'boolean' && typeof yielded === 'boolean'
  return isReadable ? { allowScheduling, isYielded: yielded } : 'unreadable'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

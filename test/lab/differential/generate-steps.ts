import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { applyMergePatch } from '@cofferdam/simulator/api-server/patch/merge-patch.ts'
import type { SubjectKind } from './kinds/subject-kind.ts'
import type { RequestStep, Sequence, Step } from './step.ts'

const hold = 'cofferdam.example/hold'
const names = ['a', 'b', 'c']

/** Metadata that a new object may come with; most come with little. */
const metadataChoices: readonly JsonObject[] = [
  {},
  {},
  {},
  {},
  { labels: { app: 'x' } },
  { labels: { app: 'x', tier: 'back' }, annotations: { note: 'first' } },
  { labels: { app: 'y' }, finalizers: [hold] },
  { finalizers: [hold] },
  { finalizers: [hold, 'cofferdam.example/second'] },
  { finalizers: ['foregroundDeletion'] },
  { finalizers: ['unqualified'] },
  { labels: { 'bad key!': 'x' } },
  { labels: { app: 'bad value!' } },
  { labels: { app: 5 } },
  { annotations: { 'bad key!': 'x' } },
  {
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '11111111-2222-4333-8444-555555555555' },
    ],
  },
  { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' }] },
  { resourceVersion: '1' },
  { uid: '11111111-2222-4333-8444-555555555555', generation: 5, creationTimestamp: '2020-01-01T00:00:00Z' },
  { namespace: 'elsewhere' },
  { deletionTimestamp: '2020-01-01T00:00:00Z' },
  { managedFields: [] },
]

const oddNames = ['', 'Not A Name', 'x'.repeat(260), 'double..dot', 'under_score', '.', 'a/b']

const metadataEdits: readonly JsonObject[] = [
  { labels: { app: 'x' } },
  { labels: { app: 'y' } },
  { labels: null },
  { annotations: { note: 'changed' } },
  { annotations: null },
  { finalizers: [hold] },
  { finalizers: null },
  { finalizers: [] },
  { finalizers: ['cofferdam.example/late'] },
  { labels: { app: 'bad value!' } },
  { name: 'renamed' },
  { namespace: 'elsewhere' },
  { uid: '11111111-2222-4333-8444-555555555555' },
  { resourceVersion: '1' },
  { resourceVersion: 'letters' },
  { creationTimestamp: null },
  { deletionTimestamp: '2020-01-01T00:00:00Z' },
  { deletionGracePeriodSeconds: 3 },
  { managedFields: [] },
  { managedFields: [{}] },
  { generateName: 'other-' },
  {
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '11111111-2222-4333-8444-555555555555' },
    ],
  },
]

type Draw = <T>(choices: readonly T[]) => T

class Writer {
  readonly #random: Random
  readonly #kind: SubjectKind
  readonly steps: Step[] = []

  constructor(random: Random, kind: SubjectKind) {
    this.#random = random
    this.#kind = kind
  }

  readonly draw: Draw = (choices) => choices[Math.floor(this.#random.next() * choices.length)] as never

  chance(share: number): boolean {
    return this.#random.next() < share
  }

  objectName(): string {
    return `${this.#kind.isClusterWide === true ? '{ns}-' : ''}${this.draw(names)}`
  }

  objectPath(): string {
    return `${this.#kind.collection}/${this.objectName()}`
  }

  object(metadata: JsonObject, fields: JsonObject): JsonObject {
    const { apiVersion, kind, isClusterWide } = this.#kind
    const labels = isClusterWide === true ? { labels: { sequence: '{ns}' } } : {}
    return { apiVersion, kind, metadata: applyMergePatch(labels, metadata), ...fields } as JsonObject
  }

  request(step: Omit<RequestStep, 'asks'>): void {
    this.steps.push({ asks: 'request', ...step })
  }

  create(): void {
    const { collection, valid, odd } = this.#kind
    const fields = this.draw(this.chance(0.75) ? valid : odd)
    const metadata = this.chance(0.6) ? {} : this.draw(metadataChoices)
    const name = this.chance(0.06) ? this.draw(oddNames) : this.objectName()
    const named: JsonObject = this.chance(0.07)
      ? // Of their own for each: those of one prefix would be listed in the order of their random ends.
        { generateName: `${this.objectName()}-${this.steps.length}-` }
      : { name }
    const query = this.draw([
      undefined,
      undefined,
      undefined,
      undefined,
      'dryRun=All',
      'fieldValidation=Strict',
      'fieldValidation=Ignore',
      'fieldManager=writer',
      'fieldValidation=Loud',
      'dryRun=Some',
    ])
    const elsewhere = this.chance(0.03) ? collection.replace('{ns}', '{ns}-absent') : collection
    this.request({
      method: 'POST',
      path: elsewhere,
      body: this.object({ ...metadata, ...named }, fields),
      ...optional({ query }),
    })
  }

  edit(): JsonObject {
    const { edits, oddEdits } = this.#kind
    if (this.chance(0.3)) return { metadata: this.draw(metadataEdits) }
    return this.draw(this.chance(0.75) ? edits : oddEdits)
  }

  put(): void {
    const path = this.objectPath()
    const { statusEdits } = this.#kind
    const isStatus = statusEdits !== undefined && this.chance(0.3)
    const change = isStatus ? this.draw(statusEdits) : this.edit()
    const otherwise = this.object({ name: path.slice(path.lastIndexOf('/') + 1) }, this.draw(this.#kind.valid))
    const at = this.chance(0.8) ? ('now' as const) : ('first' as const)
    const merge = this.draw<JsonObject>([
      change,
      change,
      change,
      change,
      {},
      applyMergePatch(change, { metadata: { resourceVersion: null } }) as JsonObject,
      applyMergePatch(change, { metadata: { resourceVersion: '0' } }) as JsonObject,
      applyMergePatch(change, {
        metadata: { managedFields: null, creationTimestamp: null, generation: null },
      }) as JsonObject,
    ])
    const query = this.draw([
      undefined,
      undefined,
      undefined,
      undefined,
      'dryRun=All',
      'fieldManager=writer',
      'fieldValidation=Strict',
    ])
    this.request({
      method: 'PUT',
      path: isStatus ? `${path}/status` : path,
      edit: { of: path, at, merge, otherwise },
      ...optional({ query }),
    })
  }

  patch(): void {
    const path = this.objectPath()
    const { statusEdits, strategic = [], jsonPatches = [], applied } = this.#kind
    const isStatus = statusEdits !== undefined && this.chance(0.3)
    const target = isStatus ? `${path}/status` : path
    const plain = () => (isStatus ? this.draw(statusEdits) : this.edit())
    const query = this.draw([
      undefined,
      undefined,
      undefined,
      'dryRun=All',
      'fieldManager=writer',
      'fieldValidation=Strict',
    ])
    const kind = this.draw(['merge', 'merge', 'strategic', 'json', 'apply', 'apply', 'apply'] as const)
    switch (kind) {
      case 'merge':
        this.request({ method: 'PATCH', path: target, patch: kind, body: plain(), ...optional({ query }) })
        return
      case 'strategic': {
        const body = strategic.length > 0 && this.chance(0.6) ? this.draw(strategic) : plain()
        this.request({ method: 'PATCH', path: target, patch: kind, body, ...optional({ query }) })
        return
      }
      case 'json': {
        if (jsonPatches.length === 0) return
        this.request({ method: 'PATCH', path, patch: kind, body: this.draw(jsonPatches), ...optional({ query }) })
        return
      }
      case 'apply': {
        const name = path.slice(path.lastIndexOf('/') + 1)
        const metadata = applyMergePatch({ name }, this.chance(0.7) ? {} : this.draw(applyMetadata)) as JsonObject
        const manager = this.draw(['one', 'one', 'two', 'differential', ''])
        const force = this.draw(['', '', '&force=true', '&force=true', '&dryRun=All'])
        const fields = isStatus ? this.draw(statusEdits) : this.draw(applied)
        const { metadata: _, ...rest } = fields
        this.request({
          method: 'PATCH',
          path: target,
          patch: kind,
          query: `fieldManager=${manager}${force}`,
          body: this.object(metadata, rest),
        })
      }
    }
  }

  remove(): void {
    const path = this.objectPath()
    const options = this.draw<JsonObject | undefined>([
      undefined,
      undefined,
      {},
      { propagationPolicy: 'Foreground' },
      { propagationPolicy: 'Background' },
      { propagationPolicy: 'Orphan' },
      { propagationPolicy: 'Sideways' },
      { orphanDependents: true },
      { orphanDependents: false, propagationPolicy: 'Orphan' },
      { gracePeriodSeconds: 0 },
      { gracePeriodSeconds: 60 },
      { gracePeriodSeconds: 5 },
      { gracePeriodSeconds: -3 },
      { dryRun: ['All'] },
      { dryRun: ['Some'] },
      { preconditions: { uid: `<uid ${path}>` } },
      { preconditions: { uid: '11111111-2222-4333-8444-555555555555' } },
      { preconditions: { resourceVersion: `<version ${path}>` } },
      { preconditions: { resourceVersion: `<version ${path} first>` } },
      { preconditions: { resourceVersion: '1' } },
      { gracePeriodSeconds: 'soon' },
    ])
    const query = this.draw([
      undefined,
      undefined,
      undefined,
      'propagationPolicy=Foreground',
      'gracePeriodSeconds=0',
      'dryRun=All',
      'gracePeriodSeconds=7&propagationPolicy=Orphan',
    ])
    const body = options === undefined ? {} : { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options } }
    this.request({ method: 'DELETE', path, ...body, ...(options === undefined ? optional({ query }) : {}) })
  }

  removeMany(): void {
    const scope = this.#kind.isClusterWide === true ? 'sequence={ns},' : ''
    const query = this.draw([
      `labelSelector=${scope}app=x`,
      `labelSelector=${scope}app`,
      `labelSelector=${scope}app in (x,y)&dryRun=All`,
    ])
    this.request({ method: 'DELETE', path: this.#kind.collection, query })
  }

  read(): void {
    const path = this.objectPath()
    if (this.#kind.statusEdits !== undefined && this.chance(0.2)) {
      this.request({ method: 'GET', path: `${path}/status` })
      return
    }
    const query = this.draw([undefined, undefined, undefined, 'resourceVersion=0'])
    this.request({ method: 'GET', path, ...optional({ query }) })
  }

  list(): void {
    const { collection, fieldSelectors = [], isClusterWide } = this.#kind
    const scope = isClusterWide === true ? 'labelSelector=sequence={ns}' : undefined
    if (this.chance(0.25)) {
      this.steps.push({ asks: 'pages', path: collection, limit: this.draw([1, 2, 3]), ...optional({ query: scope }) })
      return
    }
    const labels = isClusterWide === true ? 'sequence={ns},' : ''
    const some = `${collection}/${this.objectName()}`
    const query = this.draw([
      scope,
      `labelSelector=${labels}app=x`,
      `labelSelector=${labels}app!=x`,
      `labelSelector=${labels}app in (x,y),tier`,
      `labelSelector=${labels}!app`,
      'labelSelector=app in',
      'labelSelector=app==,',
      ...fieldSelectors.map((selector) => `fieldSelector=${selector}${scope === undefined ? '' : `&${scope}`}`),
      'fieldSelector=metadata.name',
      ...(isClusterWide === true
        ? []
        : [
            'resourceVersion=0',
            `resourceVersion=<version ${some}>&resourceVersionMatch=Exact`,
            `resourceVersion=<version ${some} first>&resourceVersionMatch=Exact`,
            `resourceVersion=<version ${some}>&resourceVersionMatch=NotOlderThan`,
            `resourceVersion=<version ${some} first>`,
            'resourceVersionMatch=Exact',
            'resourceVersion=0&resourceVersionMatch=Exact',
            'resourceVersion=letters',
            'continue=rubbish',
            'limit=1&resourceVersionMatch=Sometimes&resourceVersion=5',
            'limit=-1',
            'limit=x',
          ]),
    ])
    this.request({ method: 'GET', path: collection, ...optional({ query }) })
  }

  watch(): void {
    const { collection, isClusterWide } = this.#kind
    const labels = isClusterWide === true ? 'sequence={ns},' : ''
    const path = this.objectPath()
    const selector = this.draw([
      isClusterWide === true ? '&labelSelector=sequence={ns}' : '',
      `&labelSelector=${labels}app=x`,
      `&fieldSelector=metadata.name=${path.slice(path.lastIndexOf('/') + 1)}`,
    ])
    this.steps.push({ asks: 'watch', path: collection, query: `resourceVersion=<version ${path} first>${selector}` })
  }
}

const applyMetadata: readonly JsonObject[] = [
  { labels: { app: 'x' } },
  { labels: { app: 'applied' } },
  { annotations: { note: 'applied' } },
  { finalizers: [hold] },
  { name: null },
  { name: 'other' },
  { resourceVersion: '1' },
  { uid: '11111111-2222-4333-8444-555555555555' },
  { managedFields: [{ manager: 'one' }] },
  { labels: { app: 'bad value!' } },
]

/** A story about objects of one kind, the same for the same seed. */
export function generateSequence(kind: SubjectKind, seed: number, length = 25): Sequence {
  const writer = new Writer(seededRandom(seed), kind)
  const verbs: readonly [number, () => void][] = [
    [16, () => writer.create()],
    [18, () => writer.put()],
    [30, () => writer.patch()],
    [12, () => writer.remove()],
    [1, () => writer.removeMany()],
    [8, () => writer.read()],
    [10, () => writer.list()],
    [3, () => writer.watch()],
  ]
  const deck = verbs.flatMap(([weight, verb]) => Array.from({ length: weight }, () => verb))
  const name = `${kind.isClusterWide === true ? '{ns}-' : ''}a`
  const first = writer.draw(kind.valid)
  writer.request({ method: 'POST', path: kind.collection, body: writer.object({ name, labels: { app: 'x' } }, first) })
  while (writer.steps.length < length) writer.draw(deck)()
  const budgets = kind.kind === 'PodDisruptionBudget' ? ({ budgets: 'paused' } as const) : {}
  return { name: `${kind.kind} ${seed}`, ...budgets, steps: writer.steps }
}

function optional(fields: Record<string, Json | undefined>): Record<string, never> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Record<string, never>
}

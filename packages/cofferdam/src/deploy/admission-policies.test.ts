import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeRequestInOwnName } from '../cli/drain/make-request-in-own-name.ts'
import { formatBreakGlass } from '../ledger/rules/break-glass.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { buildAdmissionPolicies } from './admission-policies.ts'
import { buildCustomResourceDefinitions } from './custom-resource-definitions.ts'
import { operatorAccount } from './operator-manifests.ts'

const mallory: UserInfo = { username: 'mallory', groups: ['system:authenticated'] }
const bot = serviceAccountUser('shop', 'bot')
const operator = serviceAccountUser(operatorAccount.namespace, operatorAccount.name)
const clock = new VirtualClock(Date.UTC(2026, 0, 1))
let server: ApiServer
let admin: KubeApi

beforeEach(async () => {
  server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  admin = server.as(clusterAdmin)
  for (const manifest of [...buildCustomResourceDefinitions(), ...buildAdmissionPolicies()] as KubeObject[]) {
    await admin.create(typeOfObject(server.catalogue, manifest) as ResourceType, manifest)
  }
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const everything = [
    { apiGroups: ['cofferdam.io'], resources: ['nodedisruptions'], verbs: ['create', 'get', 'patch', 'update'] },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['create', 'get', 'patch', 'update'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'get', 'patch', 'update'] },
  ]
  await grant('writers', everything, [mallory, bot, operator])
})

async function grant(name: string, rules: readonly object[], users: readonly UserInfo[]): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io'
  const subjects = users.map(({ username }) => ({ apiGroup: rbac, kind: 'User', name: username }))
  const role = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules }
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name }
  const binding = { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects }
  for (const object of [role, binding] as KubeObject[])
    await admin.create(typeOfObject(server.catalogue, object) as ResourceType, object)
}

const said = (asked: Promise<unknown>) =>
  asked.then(
    () => 'admitted',
    (error: Error & { code?: number }) => `${error.code} ${error.message}`,
  )

interface Wanted {
  readonly requester?: string
  readonly annotations?: Readonly<Record<string, string>>
}

const ask = (user: UserInfo, { requester, annotations = {} }: Wanted) =>
  said(
    server.as(user).create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'reboot', annotations },
      spec: {
        nodeName: 'node-a',
        intent: 'Reboot',
        honourSkipDrain: true,
        ...(requester === undefined ? {} : { requester }),
      },
    }),
  )

const glass = (
  by: string,
  text = formatBreakGlass({ by, reason: 'it "burns"', untilMs: clock.now() + 1_800_000 }),
) => ({
  annotations: { 'cofferdam.io/break-glass': text },
})
const mayBreak = { apiGroups: ['cofferdam.io'], resources: ['nodedisruptions'], verbs: ['break-glass'] }

describe('whoever may create requests', () => {
  it('asks in his own name, or in none', async () => {
    expect(await ask(mallory, { requester: 'mallory' })).toBe('admitted')
    await admin.delete(nodeDisruptions, { name: 'reboot' })
    expect(await ask(mallory, {})).toBe('admitted')
  })

  it('does not ask in the name of others: the drain would be laid at the door of one who never asked', async () => {
    expect(await ask(mallory, { requester: 'alice' })).toMatch(/^403 .*spec.requester must be your user name, mallory;/)
    await ask(mallory, {})
    const patch = { type: 'merge', body: { spec: { requester: 'alice' } } } as const
    expect(await said(server.as(mallory).patch(nodeDisruptions, { name: 'reboot' }, patch))).toMatch(/^403 /)
  })

  it('leaves a requester alone that another has written before', async () => {
    await ask(clusterAdmin, { requester: 'alice' })
    const patch = { type: 'merge', body: { spec: { reason: 'kernel' } } } as const
    expect(await said(server.as(mallory).patch(nodeDisruptions, { name: 'reboot' }, patch))).toBe('admitted')
  })

  it('does not make a request pass for that of a tool', async () => {
    const annotations = { 'cofferdam.io/asked-by': 'daemonset/kube-system/kured' }
    expect(await ask(mallory, { annotations })).toMatch(/^403 .*asked-by is set by the operator alone/)
    expect(await ask(operator, { requester: 'kured', annotations })).toBe('admitted')
  })

  it('does not break glass without the right to: every owner’s lock would fall to whoever may drain', async () => {
    expect(await ask(mallory, glass('mallory'))).toMatch(/^403 .*break-glass needs the verb break-glass/)
    await ask(mallory, {})
    const patch = { type: 'merge', body: { metadata: glass('mallory') } } as const
    expect(await said(server.as(mallory).patch(nodeDisruptions, { name: 'reboot' }, patch))).toMatch(/^403 /)
  })

  it('breaks glass with the right to, in his own name and in no other', async () => {
    await grant('glass', [mayBreak], [mallory])
    expect(await ask(mallory, glass('alice'))).toMatch(/^403 .*must be your user name, mallory/)
    expect(await ask(mallory, glass('mallory'))).toBe('admitted')
  })

  it.each([
    ['says twice who', '{"by":"mallory","reason":"x","by":"alice","until":"2026-01-01T00:30:00Z"}'],
    ['says it again behind its end', '{"by":"mallory","reason":"x","until":"2026-01-01T00:30:00Z","by":"alice"}'],
    ['hides it in the reason', '{"by":"mallory","reason":"x","\\u0062y":"alice","until":"2026-01-01T00:30:00Z"}'],
  ])('does not slip another’s name in by an override that %s', async (_, text) => {
    await grant('glass', [mayBreak], [mallory])
    expect(await ask(mallory, glass('', text))).toMatch(/^422 /)
  })
})

describe('cofferdam drain, where the policy stands', () => {
  const drain = (isNamed: boolean) => {
    const wanted = {
      nodeName: 'node-a',
      intent: 'Reboot',
      requester: 'mallory@desk',
      honourSkipDrain: true,
      accepts: [],
      nowMs: clock.now(),
      breakGlass: { by: 'mallory@desk', reason: 'fire', untilMs: clock.now() + 1_800_000 },
    } as const
    const node = { name: 'node-a', isClosed: false } as never
    const asked = { wanted, node, standing: undefined, behind: [] }
    const place = { api: server.as(mallory), signal: new AbortController().signal }
    return makeRequestInOwnName(place, asked, { isNamed })
  }

  it('asks in the name that the API server knows: with user@host it could drain nothing any more', async () => {
    await grant('glass', [mayBreak], [mallory])
    const { disruption } = await drain(false)
    expect(disruption.spec.requester).toBe('mallory')
    expect(disruption.metadata.annotations?.['cofferdam.io/break-glass']).toContain('{"by":"mallory",')
  })

  it('does not exchange a name that was asked for', async () => {
    expect(await said(drain(true))).toMatch(/^403 .*must be your user name, mallory/)
  })
})

const budget = (lock: string | undefined) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'shop', name: 'web', annotations: lock === undefined ? {} : { 'cofferdam.io/lock': lock } },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
})
const until = '"until":"2026-01-01T02:00:00Z"'

describe('whoever may write budgets', () => {
  const cases: Record<string, readonly [lock: string | undefined, then: RegExp]> = {
    'writes one without a lock': [undefined, /^admitted$/],
    'locks it in any name that is no account': [`{"holder":"shop team",${until}}`, /^admitted$/],
    'locks it in the name of the account that he is': [
      `{"holder":"system:serviceaccount:shop:bot",${until}}`,
      /^admitted$/,
    ],
    'does not lock it in the name of another account: the refusal of a drain would name an innocent one': [
      `{"holder":"system:serviceaccount:kube-system:node-controller",${until}}`,
      /^403 .*no account of the system but your own/,
    ],
    'does not hide that name behind his own': [
      `{"holder":"system:serviceaccount:shop:bot","holder":"system:admin",${until}}`,
      /^422 .*name its holder once/,
    ],
    'does not hide that name in escapes': [`{"holder":"\\u0073ystem:admin",${until}}`, /^422 .*in plain letters/],
    'does not lock it without an end': ['{"holder":"shop team"}', /^422 .*must say "until" when or "for" how long/],
    'does not fill it with text': [`{"holder":"${'x'.repeat(4_096)}",${until}}`, /^422 .*4096 characters at most/],
  }
  it.each(Object.entries(cases))('%s', async (_, [lock, then]) => {
    expect(await said(server.as(bot).create(podDisruptionBudgets, budget(lock)))).toMatch(then)
  })

  it('goes on with a budget whose lock an earlier version let through', async () => {
    await server.as(operator).create(podDisruptionBudgets, budget('for ever'))
    const patch = { type: 'merge', body: { spec: { maxUnavailable: 2 } } } as const
    expect(await said(server.as(bot).patch(podDisruptionBudgets, { namespace: 'shop', name: 'web' }, patch))).toBe(
      'admitted',
    )
  })
})

describe('whoever may write namespaces', () => {
  const mark = (user: UserInfo, value: string | null) =>
    said(
      server
        .as(user)
        .patch(
          namespaces,
          { name: 'shop' },
          { type: 'merge', body: { metadata: { labels: { 'cofferdam.io/locked': value } } } },
        ),
    )

  it('neither sets nor removes the label of a lock: without it evictions pass by the guard while it does not answer', async () => {
    expect(await mark(mallory, 'true')).toMatch(/^403 .*by the operator alone/)
    expect(await mark(operator, 'true')).toBe('admitted')
    expect(await mark(mallory, null)).toMatch(/^403 /)
    expect(await mark(operator, null)).toBe('admitted')
    const born = { name: 'born', labels: { 'cofferdam.io/locked': 'true' } }
    const made = server.as(mallory).create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: born })
    expect(await said(made)).toMatch(/^403 /)
  })

  it('changes everything else of them', async () => {
    await mark(operator, 'true')
    const patch = { type: 'merge', body: { metadata: { labels: { team: 'shop' } } } } as const
    expect(await said(server.as(mallory).patch(namespaces, { name: 'shop' }, patch))).toBe('admitted')
  })
})

import { expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { planLonghornHandOver } from './hand-over.ts'
import type { LonghornHandOverSnapshot } from './hand-over-snapshot.ts'
import type { LonghornObjects } from './parse-longhorn.ts'
import { type LonghornScene, longhornObjects } from './testing/longhorn-objects.ts'

const [policy] = longhornObjects().settings as [LonghornObjects['settings'][number]]

interface Given {
  readonly scene?: LonghornScene
  readonly objects?: Partial<LonghornObjects>
  readonly seen?: Partial<LonghornHandOverSnapshot>
}

/** `warning: what it says` of the check with this name. */
function check(what: string, { scene = {}, objects = {}, seen = {} }: Given): string {
  const { checks } = planLonghornHandOver({
    direction: 'adopt',
    namespace: 'longhorn-system',
    longhorn: known({ ...longhornObjects(scene), ...objects }),
    places: ['longhorn-system'],
    isOperatorRunning: true,
    isGuarded: true,
    missingRights: known([]),
    managerImages: ['longhornio/longhorn-manager:v1.12.1'],
    wants: { mode: 'guide' },
    ...seen,
  })
  return JSON.stringify(checks.find((each) => JSON.stringify(each).includes(`"${what}"`)))
}

const table: Record<string, { readonly what: string; readonly given: Given; readonly says: string }> = {
  'an image without a tag says no version, and is named as it is': {
    what: 'version',
    given: { seen: { managerImages: ['longhornio/longhorn-manager@sha256:abc'] } },
    says: 'Longhorn longhornio/longhorn-manager@sha256:abc: Cofferdam knows the drains',
  },
  'a registry with a port is not taken for a version': {
    what: 'version',
    given: { seen: { managerImages: ['registry:5000/longhorn-manager'] } },
    says: 'Longhorn registry:5000/longhorn-manager: Cofferdam knows the drains',
  },
  'a guard that may not be read about is not said to be missing': {
    what: 'guard',
    given: { seen: { isGuarded: undefined, wants: { mode: 'hold', policy: 'block-for-eviction' } } },
    says: 'whether the eviction guard is registered may not be read',
  },
  'a wish that makes no sense is said, for another policy would be in force than the administrator thinks': {
    what: 'policy',
    given: { scene: { notes: { 'wanted-policy': 'often' } } },
    says: 'annotation cofferdam.io/wanted-policy',
  },
  'a trigger that makes no sense is said: drains would begin at another moment than the administrator thinks': {
    what: 'policy',
    given: { scene: { notes: { trigger: 'often' } } },
    says: 'annotation cofferdam.io/trigger',
  },
  'a setting without a value is shown as it is': {
    what: 'longhorn',
    given: { objects: { settings: [{ ...policy, value: undefined } as never] } },
    says: 'node-drain-policy: ',
  },
  'a setting that stands in no way and has no value is passed over': {
    what: 'settings',
    given: { objects: { settings: [policy, { ...policy, metadata: { name: 'x' }, value: undefined } as never] } },
    says: 'settings',
  },
  'a manager whose pods may not be read is named, with none of them running as far as is known': {
    what: 'manager',
    given: { objects: { managerPods: undefined } },
    says: 'DaemonSet longhorn-manager, and none of its pods runs',
  },
  'more than three nodes that would be held are counted: the line would not end': {
    what: 'preflight',
    given: {
      scene: {
        nodes: { n1: {}, n2: {}, n3: {}, n4: {} },
        volumes: { a: { on: ['n1'] }, b: { on: ['n2'] }, c: { on: ['n3'] }, d: { on: ['n4'] } },
      },
    },
    says: 'and 1 more',
  },
  'a namespace without Longhorn, and no other that has it: where it is can be found out': {
    what: 'longhorn',
    given: { seen: { namespace: 'storage', longhorn: undefined, places: [] } },
    says: 'kubectl get settings.longhorn.io -A shows where it is',
  },
  'a manager that may not be read about is not said to be missing': {
    what: 'manager',
    given: { objects: { managerSets: undefined, managerPods: undefined } },
    says: 'whether one runs is not known',
  },
}

it.each(Object.entries(table))('%s', (_, { what, given, says }) => {
  expect(check(what, given)).toContain(says)
})

it('marks that cannot be read are counted: each of them stands for something that is never put back', () => {
  const nodes = { n1: { asked: '{' }, n2: { asked: '[]' }, n3: {} }
  expect(check('marks', { scene: { nodes } })).toContain('; and 1 more')
})

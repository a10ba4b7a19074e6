import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import { parseClusterFile, readClusterFile } from './cluster-file.ts'

const examples = new URL('../../../../examples/clusters/', import.meta.url).pathname

function problemsOf(text: string): string[] {
  try {
    parseClusterFile(text, 'my.yaml')
  } catch (error) {
    expect(error).toBeInstanceOf(CofferdamError)
    expect((error as CofferdamError).code).toBe('CLUSTER_FILE_INVALID')
    const [headline, ...problems] = (error as CofferdamError).message.split('\n')
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    expect(headline).toBe(`my.yaml has ${count}:`)
    return problems.map((line) => line.trim())
  }
  return []
}

const small = (rest: string) => `zones: [{ name: a }]\nnodes: [{ name: n1 }]\n${rest}`
const app = (fields: string) => small(`apps: [{ name: web, ${fields} }]`)

describe('a cluster file that can be used', () => {
  it('needs no more than a zone and a node; the rest has defaults', () => {
    expect(parseClusterFile(small(''), 'my.yaml')).toEqual({
      name: 'demo',
      pace: { readyAfterSeconds: 3, terminationSeconds: 2 },
      nodes: [
        {
          name: 'n1',
          zone: 'a',
          roles: [],
          labels: {},
          taints: [],
          capacity: { cpu: '8', memory: '32Gi', pods: '110' },
        },
      ],
      apps: [],
      jobs: [],
    })
  })

  const names: Record<string, { given: string; then: string[] }> = {
    'a group without a zone stands in every zone, and {n} counts anew in each when the name has {zone}': {
      given: 'zones: [{ name: a }, { name: b }]\nnodes: [{ name: "worker-{zone}{n}", count: 2 }]',
      then: ['worker-a1 a', 'worker-a2 a', 'worker-b1 b', 'worker-b2 b'],
    },
    'without {zone} in the name {n} counts on from zone to zone': {
      given: 'zones: [{ name: a }, { name: b }]\nnodes: [{ name: "worker-{n}", count: 2 }]',
      then: ['worker-1 a', 'worker-2 a', 'worker-3 b', 'worker-4 b'],
    },
    'zones names those in which a group stands': {
      given: 'zones: [{ name: a }, { name: b }, { name: c }]\nnodes: [{ name: "n-{zone}", zones: [c, a] }]',
      then: ['n-c c', 'n-a a'],
    },
    'nodes of a zone with racks take its racks in turn': {
      given: 'zones: [{ name: a, racks: [r1, r2] }]\nnodes: [{ name: "{rack}-{n}", count: 3 }]',
      then: ['r1-1 a r1', 'r2-2 a r2', 'r1-3 a r1'],
    },
    'a node may say its rack': {
      given: 'zones: [{ name: a, racks: [r1, r2] }]\nnodes: [{ name: n1, zone: a, rack: r2 }]',
      then: ['n1 a r2'],
    },
  }
  it.each(Object.entries(names))('%s', (_name, { given, then }) => {
    const { nodes } = parseClusterFile(given, 'my.yaml')
    expect(nodes.map(({ name, zone, rack }) => [name, zone, rack].filter(Boolean).join(' '))).toEqual(then)
  })

  it.each(readdirSync(examples))('examples/clusters/%s can be used as it is', async (file) => {
    expect((await readClusterFile(join(examples, file))).nodes.length).toBeGreaterThan(0)
  })

  it('quantities may be written as numbers', () => {
    const text = 'zones: [{ name: a }]\nnodes: [{ name: n1, capacity: { cpu: 0.5, memory: 1Gi, pods: 20 } }]'
    expect(parseClusterFile(text, 'my.yaml').nodes[0]?.capacity).toEqual({ cpu: '0.5', memory: '1Gi', pods: '20' })
  })
})

describe('a cluster file that cannot be used names the place and the way out', () => {
  const cases: Record<string, { given: string; then: string[] }> = {
    'an empty file': { given: '', then: ['the file: expected a document, but the input is empty'] },
    'a file that is not YAML names line and column': {
      given: 'zones:\n  - name: [a\nnodes: 1',
      then: ['line 3, column 1: deficient indentation'],
    },
    'a field that is there twice': { given: 'name: x\nname: y', then: ['line 2, column 1: duplicated mapping key'] },
    'a list where fields belong': { given: '- a', then: ['the file: must be a mapping of fields, not a list'] },
    'missing sections are all named': { given: 'name: x', then: ['zones: is missing', 'nodes: is missing'] },
    'no zones and no nodes': {
      given: 'zones: []\nnodes: []',
      then: ['zones: must have at least one entry', 'nodes: must have at least one entry'],
    },
    'an unknown section, with the name it most likely means': {
      given: small('app: []'),
      then: ['app: unknown field; did you mean "apps"?'],
    },
    'an unknown section that is like no other, with all that are known': {
      given: small('volcano: []'),
      then: ['volcano: unknown field; known here: name, pace, zones, nodes, apps, jobs, ceph, longhorn, machines'],
    },
    'an unknown field deep inside': {
      given: 'zones: [{ name: a, rack: [r] }]\nnodes: [{ name: n1, capasity: {} }, { name: n2, capacity: { mem: 1 } }]',
      then: [
        'zones[0].rack: unknown field; did you mean "racks"?',
        'nodes[0].capasity: unknown field; did you mean "capacity"?',
        'nodes[1].capacity.mem: unknown field; known here: cpu, memory, pods',
      ],
    },
    'an unknown field of a budget': {
      given: app('pdb: { maxUnavailible: 1 }'),
      then: ['apps[0].pdb.maxUnavailible: unknown field; did you mean "maxUnavailable"?'],
    },
    'a kind that is not simulated': {
      given: app('kind: Statefulset'),
      then: [
        'apps[0].kind: must be one of Deployment, StatefulSet, DaemonSet, not "Statefulset"; did you mean "StatefulSet"?',
      ],
    },
    'a spread over something else': {
      given: app('spread: 7'),
      then: ['apps[0].spread: must be one of zone, host, not 7'],
    },
    'values of the wrong type': {
      given: small('apps: [{ name: 5, replicas: many, everywhere: "yes" }]'),
      then: [
        'apps[0].name: must be a text, not 5',
        'apps[0].replicas: must be a number, not "many"',
        'apps[0].everywhere: must be true or false, not "yes"',
      ],
    },
    'a name Kubernetes would refuse': {
      given: small('apps: [{ name: Web_1 }]'),
      then: ['apps[0].name: must be lower-case letters, digits and dashes, as in web or node-agent'],
    },
    'too many, too few, too long': {
      given: small('pace: { readyAfterSeconds: 99999, terminationSeconds: -1 }\napps: [{ name: web, replicas: -2 }]'),
      then: [
        'pace.readyAfterSeconds: must be at most 3600',
        'pace.terminationSeconds: must be at least 0',
        'apps[0].replicas: must be at least 0',
      ],
    },
    'a fraction of a replica': {
      given: app('replicas: 1.5'),
      then: ['apps[0].replicas: must be a whole number, not 1.5'],
    },
    'a quantity that is none': {
      given: app('requests: { cpu: two, memory: 4GB }'),
      then: [
        'apps[0].requests.cpu: must be a quantity, as in 500m, 2 or 4Gi',
        'apps[0].requests.memory: must be a quantity, as in 500m, 2 or 4Gi',
      ],
    },
    'a label value without quotes': {
      given: 'zones: [{ name: a }]\nnodes: [{ name: n1, labels: { ssd: true } }]',
      then: ['nodes[0].labels.ssd: must be a text; put quotes around numbers and true or false'],
    },
    'a label key that is none': {
      given: 'zones: [{ name: a }]\nnodes: [{ name: n1, labels: { "a b": x } }]',
      then: ['nodes[0].labels.a b: must be a label key, as in disktype or example.com/disktype'],
    },
    'a taint without an effect': {
      given: 'zones: [{ name: a }]\nnodes: [{ name: n1, taints: [{ key: gpu }] }]',
      then: ['nodes[0].taints[0].effect: is missing'],
    },
    'a node in a zone that is not there': {
      given: 'zones: [{ name: east }]\nnodes: [{ name: n1, zone: eest }, { name: n2, zones: [west-9] }]',
      then: [
        'nodes[0].zone: "eest" is not a zone; did you mean "east"?',
        'nodes[1].zones[0]: "west-9" is not a zone; known: east',
      ],
    },
    'a node in a rack that its zone has not': {
      given: 'zones: [{ name: a, racks: [r1] }, { name: b }]\nnodes: [{ name: "n-{zone}", rack: r9 }]',
      then: [
        'nodes[0].rack: "r9" is not a rack of zone a; did you mean "r1"?',
        'nodes[0].rack: there is no rack of zone b, so not "r9" either',
      ],
    },
    'a node in one zone and in many': {
      given: 'zones: [{ name: a }]\nnodes: [{ name: n1, zone: a, zones: [a] }]',
      then: ['nodes[0]: has both zone and zones; keep one of them'],
    },
    'two zones of one name': {
      given: 'zones: [{ name: a }, { name: a }]\nnodes: [{ name: n1, zone: a }]',
      then: ['zones[1].name: "a" is already the name of zones[0]'],
    },
    'many nodes of one name': {
      given: 'zones: [{ name: a }]\nnodes: [{ name: n1 }, { name: n1 }, { name: w, count: 3 }]',
      then: [
        'nodes[1].name: "n1" is already the name of a node of nodes[0]',
        'nodes[2].name: "w" is already the name of a node of nodes[2]; put {n} or {zone} into the name',
      ],
    },
    'a pattern that makes no node name': {
      given: 'zones: [{ name: EU }]\nnodes: [{ name: "n-{zone}" }, { name: "n{x}" }]',
      then: ['nodes[1].name: must be a node name, as in worker-a1, or a pattern with {zone}, {rack} and {n}'],
    },
    'a node name Kubernetes would refuse': {
      given: 'zones: [{ name: EU }]\nnodes: [{ name: "n-{zone}" }]',
      then: ['nodes[0].name: "n-EU" is not a node name'],
    },
    'a budget with both bounds, and one with none': {
      given: small('apps: [{ name: x, pdb: { minAvailable: 1, maxUnavailable: 1 } }, { name: y, pdb: {} }]'),
      then: [
        'apps[0].pdb: has both minAvailable and maxUnavailable; keep one of them',
        'apps[1].pdb: needs minAvailable or maxUnavailable',
      ],
    },
    'a budget bound that is neither count nor percentage': {
      given: app('pdb: { minAvailable: half }'),
      then: ['apps[0].pdb.minAvailable: must be a whole number or a percentage, as in 1 or 25%'],
    },
    'a DaemonSet with what only counted workloads have': {
      given: app('kind: DaemonSet, replicas: 2, spread: zone, pdb: { minAvailable: 1 }'),
      then: ['replicas', 'spread', 'pdb'].map(
        (field) => `apps[0].${field}: a DaemonSet has none: it runs one pod on every node it may use`,
      ),
    },
    'a DaemonSet that asks to stay': {
      given: app('kind: DaemonSet, skipDrain: true'),
      then: ['apps[0].skipDrain: a DaemonSet needs none: a drain leaves its pods in place'],
    },
    'one app or job described twice': {
      given: small('apps: [{ name: x }, { name: x }, { name: x, namespace: y }]\njobs: [{ name: j }, { name: j }]'),
      then: [
        'apps[1].name: default/x is already described by apps[0]',
        'jobs[1].name: default/j is already described by jobs[0]',
      ],
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(problemsOf(given)).toEqual(then)
  })

  it('a file that is not there is named, with where to find one', async () => {
    await expect(readClusterFile('/nowhere/my.yaml')).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('cannot read the cluster file /nowhere/my.yaml'),
      hint: expect.stringContaining('examples/clusters/'),
    })
  })

  it('problems in a file name that file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cofferdam-'))
    const file = join(directory, 'bad.yaml')
    writeFileSync(file, 'zones: 1')
    await expect(readClusterFile(file)).rejects.toMatchObject({ facts: { path: file, problems: 2 } })
    rmSync(directory, { recursive: true })
  })
})

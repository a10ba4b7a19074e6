import { describe, expect, it } from 'vitest'
import { parseClusterFile } from './cluster-file.ts'

const head = 'zones: [{ name: a }]\nnodes: [{ name: "node-{n}", count: 2 }]\n'
const machinesOf = (section: string) => parseClusterFile(`${head}machines: ${section}\n`, 'mine.yaml').machines

const pace = { provisionSeconds: 180, terminateSeconds: 30, rebootSeconds: 120 }

describe('the machines section', () => {
  it('that is empty gives every node a machine of OpenShift, and nobody who takes sick ones away', () => {
    expect(machinesOf('{}')).toEqual({
      api: 'openshift',
      clusterName: 'demo',
      sets: [{ name: 'demo-node-a', nodes: ['node-1', 'node-2'] }],
      volumes: 'follow',
      pace,
    })
  })

  it('takes a health check with what it does and when', () => {
    expect(machinesOf('{ api: cluster-api, nodes: [node-2], healthCheck: { style: node, after: 30 } }')).toEqual({
      api: 'cluster-api',
      clusterName: 'demo',
      sets: [{ name: 'demo-node-a', nodes: ['node-2'] }],
      healthCheck: { style: 'node', after: 30, remediation: 'reboot' },
      volumes: 'follow',
      pace,
    })
  })

  it('may be none at all, beside a health check of nodes', () => {
    expect(machinesOf('{ api: none, healthCheck: { style: node, after: 30 } }')).toMatchObject({
      api: 'none',
      sets: [],
      healthCheck: { style: 'node', after: 30, remediation: 'reboot' },
    })
  })

  it('has a set of machines for each role in each zone, with names that Kubernetes takes', () => {
    const text = 'name: lab\nzones: [{ name: A_1 }]\nnodes: [{ name: m, roles: [infra] }, { name: w }]\nmachines: {}\n'
    expect(parseClusterFile(text, 'mine.yaml').machines?.sets).toEqual([
      { name: 'lab-infra-a-1', nodes: ['m'] },
      { name: 'lab-node-a-1', nodes: ['w'] },
    ])
  })

  it.each<[string, string, string]>([
    [
      'a node that is not there is named, with the one that was meant',
      '{ nodes: [node-1, nod-2] }',
      'machines.nodes[1]: there is no node "nod-2"; did you mean "node-2"?',
    ],
    [
      'a budget is asked only by the health checks of OpenShift',
      '{ api: cluster-api, healthCheck: { style: budget } }',
      'machines.healthCheck.style: only health checks of OpenShift ask a machine budget; use machine or node with api cluster-api',
    ],
    [
      'a reboot does not lose volumes',
      '{ volumes: lost, healthCheck: { remediation: reboot } }',
      'machines.volumes: a reboot loses no volumes; use remediation delete, or volumes follow',
    ],
    [
      'a health check of nodes only reboots',
      '{ healthCheck: { style: node, remediation: delete } }',
      'machines.healthCheck.remediation: a health check of style node reboots; use reboot, or another style',
    ],
    [
      'a word that is none of the known ones brings the closest',
      '{ healthCheck: { style: budgets } }',
      'machines.healthCheck.style: must be one of budget, machine, node, not "budgets"; did you mean "budget"?',
    ],
    [
      'a field that is unknown brings the closest',
      '{ healthCheck: { afterr: 3 } }',
      'machines.healthCheck.afterr: unknown field; did you mean "after"?',
    ],
    [
      'a time below zero is refused',
      '{ healthCheck: { after: -1 } }',
      'machines.healthCheck.after: must be at least 0',
    ],
  ])('%s', (_, section, says) => {
    expect(() => machinesOf(section)).toThrow(`mine.yaml has one problem:\n  ${says}`)
  })
})

import { expect, it } from 'vitest'
import { type DemoReport, renderDemo } from './demo-text.ts'

const report: DemoReport = {
  cluster: 'demo',
  nodes: 9,
  zones: 1,
  pods: 16,
  dashboard: 'http://127.0.0.1:7400',
  kubernetes: 'http://127.0.0.1:7443',
  kubeconfig: '/home/me/my project/.cofferdam/kubeconfig',
  seed: 1,
  notReady: [],
  tryThis: [{ says: 'Drain a node', lines: ['kubectl drain n1', 'kubectl uncordon n1'] }],
}
const plain = (_style: string, text: string) => text

it('says where everything is and what to try, in lines that can be copied', () => {
  expect(renderDemo(report, plain).split('\n')).toEqual([
    'Ready: cluster demo, 9 nodes in 1 zone, 16 pods.',
    '',
    '  Dashboard   http://127.0.0.1:7400',
    '  Kubernetes  http://127.0.0.1:7443',
    '  Kubeconfig  /home/me/my project/.cofferdam/kubeconfig',
    '',
    "  export KUBECONFIG='/home/me/my project/.cofferdam/kubeconfig'",
    '',
    'One thing to try in another terminal:',
    '',
    '  1. Drain a node',
    '     kubectl drain n1',
    '     kubectl uncordon n1',
    '',
    'Ctrl-C ends it and leaves nothing behind.',
  ])
})

it('says what did not become ready in time, since the cluster is up all the same', () => {
  const [first] = renderDemo({ ...report, notReady: ['shop/web (3 of 4)', 'nodes (8 of 9)'] }, plain).split('\n')
  expect(first).toBe(
    'Up, but not all is ready: cluster demo, 9 nodes in 1 zone, 16 pods. Still waiting for shop/web (3 of 4), nodes (8 of 9).',
  )
})

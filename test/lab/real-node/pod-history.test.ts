import { describe, expect, it } from 'vitest'
import { fewestReady, type PodMoment, parseMoment } from './pod-history.ts'

describe('what kubelets report of pods, line by line', () => {
  const lines: Readonly<Record<string, readonly [string, Partial<PodMoment>]>> = {
    'a pod that no node has yet is not ready': ['orders-1  False  ', { node: '', isReady: false, isLeaving: false }],
    'a pod that runs has no exit code: 0 would say that it ended well': [
      'orders-1 node-a True  ',
      { node: 'node-a', isReady: true, exitCode: undefined },
    ],
    'a pod that was told to go and has ended keeps its code': [
      'mill-1 node-a False 2026-01-01T00:00:00Z 137',
      { isLeaving: true, exitCode: 137 },
    ],
  }
  it.each(Object.entries(lines))('%s', (_, [line, expected]) => {
    expect(parseMoment(line)).toMatchObject(expected)
  })

  const told = (...all: readonly string[]) => fewestReady(all.map(parseMoment), 'orders', 2)
  const both = ['orders-1 a True  ', 'orders-2 a True  ']

  it('the time before all were ready does not count: the shop had not opened', () => {
    expect(told('orders-1 a False  ', ...both)).toBe(2)
  })

  it('a pod that is told to go counts as gone at once, since no new request may reach it', () => {
    expect(told(...both, 'orders-1 a True 2026-01-01T00:00:00Z ')).toBe(1)
  })

  it('a second pod that goes before the first is replaced is seen, also when all is well in the end', () => {
    const gone = ['orders-1 a True 2026-01-01T00:00:00Z ', 'orders-2 a True 2026-01-01T00:00:01Z ']
    expect(told(...both, ...gone, 'orders-3 b True  ', 'orders-4 b True  ')).toBe(0)
  })

  it('pods of another app do not stand in for it', () => {
    expect(told(...both, 'orders-1 a False  ', 'mill-1 b True  ')).toBe(1)
  })
})

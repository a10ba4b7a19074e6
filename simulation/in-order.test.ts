import { expect, it } from 'vitest'
import { createInOrder } from './in-order.ts'

function openInOrder() {
  const passed: string[] = []
  return { passed, inOrder: createInOrder<string>(7, (item) => passed.push(item)) }
}

it('what comes early waits for those before it, or two runs of the same seeds could not be compared line by line', () => {
  const { passed, inOrder } = openInOrder()
  inOrder.add(8, 'eight')
  inOrder.add(9, 'nine')
  expect(passed).toEqual([])
  inOrder.add(7, 'seven')
  expect(passed).toEqual(['seven', 'eight', 'nine'])
})

it('where one never comes the others are passed on at the end, or a process that died would hide what others found', () => {
  const { passed, inOrder } = openInOrder()
  inOrder.add(10, 'ten')
  inOrder.add(8, 'eight')
  inOrder.end()
  expect(passed).toEqual(['eight', 'ten'])
})

import * as product from '@cofferdam/product/capabilities/osd-update/domain/prepare-status.ts'
import { expect, it } from 'vitest'
import { generationAnnotation, placeAnnotation, statusMapName } from './prepare-status.ts'

it.each(['node-1', 'n'.repeat(42), 'n'.repeat(43), 'set1-data-0abcde'.repeat(8)])(
  'the operator looks for the result of %s where the prepare Job leaves it',
  (place) => expect(statusMapName(place)).toBe(product.statusMapName(place)),
)

it('the operator knows for which place and look a result was made', () => {
  expect({ generationAnnotation, placeAnnotation }).toEqual({
    generationAnnotation: product.generationAnnotation,
    placeAnnotation: product.placeAnnotation,
  })
})

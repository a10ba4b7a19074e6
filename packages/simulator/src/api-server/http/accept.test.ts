import { describe, expect, it } from 'vitest'
import { aggregatedVersion, chooseForm, type Form } from './accept.ts'

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const oldTable = 'application/json;as=Table;v=v1beta1;g=meta.k8s.io'
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

describe('the form of an answer', () => {
  const scenarios: Record<string, { given: string | undefined; then: Form }> = {
    'nothing asked for is answered with JSON': { given: undefined, then: { as: 'object' } },
    'anything is answered with JSON': { given: '*/*', then: { as: 'object' } },
    'a browser is answered with JSON': { given: 'text/html,application/xml;q=0.9,*/*;q=0.8', then: { as: 'object' } },
    'kubectl get is answered with a table': {
      given: `${table},${oldTable},application/json`,
      then: { as: 'Table', version: 'v1' },
    },
    'a table of the older version is given where only that is known': {
      given: `${oldTable},application/json`,
      then: { as: 'Table', version: 'v1beta1' },
    },
    'a table of a version nobody knows is passed over': {
      given: 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json',
      then: { as: 'object' },
    },
    'protobuf is passed over for JSON': {
      given: 'application/vnd.kubernetes.protobuf,application/json',
      then: { as: 'object' },
    },
    'YAML is given where it is asked for': { given: 'application/yaml', then: { as: 'object', yaml: true } },
    'what is wanted most comes first, wherever it stands': {
      given: 'application/json;q=0.1,application/yaml;q=0.9',
      then: { as: 'object', yaml: true },
    },
    'metadata alone is given where it is asked for': {
      given: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      then: { as: 'PartialObjectMetadataList', version: 'v1' },
    },
  }
  for (const [sentence, { given, then }] of Object.entries(scenarios)) {
    it(sentence, () => expect(chooseForm(given)).toEqual(then))
  }

  for (const given of ['application/vnd.kubernetes.protobuf', 'image/png', 'application/json;as=Sonnet']) {
    it(`only ${given} is refused with 406 that names what there is`, () => {
      const refusal = expect.objectContaining({
        code: 406,
        message: 'only the following media types are accepted: application/json, application/yaml',
      })
      expect(() => chooseForm(given)).toThrow(refusal)
    })
  }
})

describe('aggregated discovery', () => {
  it('is given to whoever prefers it to the plain one', () => {
    expect(aggregatedVersion(`${aggregated},application/json`)).toBe('v2')
    expect(aggregatedVersion(`${aggregated.replace('v2', 'v2beta1')},application/json`)).toBe('v2beta1')
  })
  it('is kept from whoever does not', () => {
    expect(aggregatedVersion('application/json, */*')).toBeUndefined()
    expect(aggregatedVersion(undefined)).toBeUndefined()
  })
})

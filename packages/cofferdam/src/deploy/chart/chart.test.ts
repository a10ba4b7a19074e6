import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createOperatorCommand } from '../../cli/operator/operator.ts'
import { controllerNames, permissionsOf, switchedCapabilities } from '../../operator/controller-names.ts'
import { buildChartFiles } from './chart-files.ts'
import { chartValues } from './chart-values.ts'
import { expression, templateText, when } from './expression.ts'
import { workloadDefaults } from './operator-template.ts'
import { valuePaths, valuesSchema, valuesText } from './values-tree.ts'

const files = buildChartFiles({ version: '1.2.3', permissions: permissionsOf, capabilities: switchedCapabilities })
const templates = Object.entries(files)
  .filter(([path]) => path.includes('/templates/'))
  .map(([, text]) => text)
  .join('\n')
const settable = valuePaths(chartValues(switchedCapabilities, workloadDefaults()))

describe('the chart', () => {
  const used = new Set([...templates.matchAll(/\.Values\.([A-Za-z0-9.]+)/g)].map(([, path]) => path as string))

  it('uses every value that it lets be set: one that does nothing passes for one that protects', () => {
    expect(settable.filter((path) => !used.has(path))).toEqual([])
  })

  it('uses no value that cannot be set', () => {
    expect([...used].filter((path) => !settable.includes(path))).toEqual([])
  })

  it('gives the operator no argument that it does not know: it would not start', () => {
    const command = new Command()
    createOperatorCommand({ pageDirectory: '' }).configure?.(command)
    const known = command.options.map(({ long }) => long)
    const given = [...templates.matchAll(/(?:^- "?|printf ")(--[a-z-]+)/gm)].map(([, flag]) => flag as string)
    expect(given).toContain('--ceph-clusters')
    expect(given.filter((flag) => !known.includes(flag))).toEqual([])
  })

  it('names every controller of every capability: one that is not named stops when another capability is switched off', () => {
    const helpers = files['helm/cofferdam/templates/_helpers.tpl'] ?? ''
    const [, named = ''] = /define "cofferdam.controllers" -}}\n([\s\S]*?)\n{{- end }}\n\n/.exec(helpers) ?? []
    const listed = [...named.matchAll(/}}([a-z,-]+),{{/g)].flatMap(([, names = '']) => names.split(','))
    expect(listed).toEqual(controllerNames)
  })

  it('switches every Role of every capability: one that is off keeps no right behind', () => {
    const always = files['helm/cofferdam/templates/account.yaml'] ?? ''
    expect([...always.matchAll(/name: (cofferdam:[a-z-]+)/g)].map(([, name]) => name)).toEqual(
      expect.arrayContaining(['cofferdam:leader-lease']),
    )
    expect(new Set([...always.matchAll(/name: (cofferdam:[a-z-]+)/g)].map(([, name]) => name)).size).toBe(1)
  })
})

describe('an object in a template', () => {
  it('has expressions as values, as items and as lines of their own', () => {
    const object = {
      name: expression('{{ .Values.name }}'),
      image: `repository:${expression('{{ .Values.tag }}')}`,
      args: ['first', expression('{{- include "more" . | nindent 2 }}')],
      [expression('{{- include "fields" . | nindent 0 }}')]: null,
    }
    expect(templateText([object])).toBe(
      [
        'name: {{ .Values.name }}',
        'image: repository:{{ .Values.tag }}',
        'args:',
        '  - first',
        '{{- include "more" . | nindent 2 }}',
        '{{- include "fields" . | nindent 0 }}',
        '',
      ].join('\n'),
    )
  })

  it('keeps braces that are Prometheus’ own: Helm would put its values there, or fail', () => {
    expect(templateText([{ summary: 'of {{ $labels.pod }}' }])).toBe('summary: of {{ "{{" }} $labels.pod }}\n')
  })

  it('is left out by a condition', () => {
    expect(when('.Values.on', 'a: 1\n')).toBe('{{- if .Values.on }}\na: 1\n{{- end }}\n')
  })
})

describe('values', () => {
  const tree = {
    image: { says: 'The image.', values: { tag: { says: 'Its tag.', default: '', schema: { type: 'string' } } } },
    names: { says: 'Names.', default: ['a'], schema: { type: 'array' } },
  }

  it('are written with what they mean', () => {
    expect(valuesText(tree)).toBe("# The image.\nimage:\n  # Its tag.\n  tag: ''\n\n# Names.\nnames:\n  - a\n")
  })

  it('that are misspelt are refused: the default would hold, and no message would say so', () => {
    expect(valuesSchema(tree)).toMatchObject({
      additionalProperties: false,
      properties: { image: { additionalProperties: false, properties: { tag: { type: 'string' } } } },
    })
  })
})

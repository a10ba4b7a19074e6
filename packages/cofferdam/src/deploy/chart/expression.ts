import { dump } from 'js-yaml'

const mark = 'helm:'

/**
 * Stands for an expression of Helm in an object: as a value, as an item of a list that brings lines of its own, or as a key with the value
 * `null` that does. YAML never has to quote or fold it.
 */
export function expression(text: string): string {
  return `${mark}${Buffer.from(text).toString('hex')}`
}

const decoded = (hex: string) => Buffer.from(hex, 'hex').toString()

/** Objects as a template. What looks like an expression in their own texts, as alerts have it, is printed as it is. */
export function templateText(objects: readonly object[]): string {
  const documents = objects.map((object) =>
    dump(object, { lineWidth: -1, noRefs: true })
      .replaceAll('{{', '{{ "{{" }}')
      .replaceAll(new RegExp(`^ *(?:- )?${mark}([0-9a-f]+)(?:: null)?$`, 'gm'), (_, hex: string) => decoded(hex))
      .replaceAll(new RegExp(`${mark}([0-9a-f]+)`, 'g'), (_, hex: string) => decoded(hex)),
  )
  return documents.join('---\n')
}

/** Lines that are there while a condition of Helm holds. */
export function when(condition: string, text: string): string {
  return `{{- if ${condition} }}\n${text.trimEnd()}\n{{- end }}\n`
}

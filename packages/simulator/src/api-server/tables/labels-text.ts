import { type LabelSelector, selectorText } from '@cofferdam/kubernetes/api/label-selector.ts'

/** `a=1,b=2` in the order of the keys, or `<none>`. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([left], [right]) => (left < right ? -1 : 1))
  return pairs.length === 0 ? '<none>' : pairs.map(([key, value]) => `${key}=${value}`).join(',')
}

/** The selector in the order of its keys, as the server prints it; empty text for one that selects everything. */
export function sortedSelectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return ''
  const expressions = (selector.matchExpressions ?? []).map((expression) => ({
    key: expression.key,
    text: selectorText({
      matchExpressions: [
        expression.values === undefined ? expression : { ...expression, values: expression.values.toSorted() },
      ],
    }),
  }))
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  return [...labels, ...expressions]
    .sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',')
}

export function selectorCell(selector: LabelSelector | undefined): string {
  return sortedSelectorText(selector) || '<none>'
}

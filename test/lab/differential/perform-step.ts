import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { applyMergePatch } from '@cofferdam/simulator/api-server/patch/merge-patch.ts'
import type { Side, WireAnswer, WireRequest } from './side.ts'
import type { SideMemory } from './side-memory.ts'
import type { PagesStep, RequestStep } from './step.ts'

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

export async function performRequest(side: Side, memory: SideMemory, step: RequestStep): Promise<WireAnswer> {
  const { method, query, patch } = step
  const path = memory.resolveText(step.path)
  const body = step.edit === undefined ? step.body : await editedBody(side, memory, step.edit)
  // A list that may be stale is only worth comparing once the server's cache has caught up.
  if (query?.includes('resourceVersion=') === true) await side.send({ method: 'GET', path })
  const request: WireRequest = {
    method,
    path: query === undefined ? path : `${path}?${memory.resolveText(query)}`,
    ...(body === undefined ? {} : { body: memory.resolve(body) }),
    ...(patch === undefined ? {} : { contentType: patchTypes[patch] }),
  }
  const answer = await side.send(request)
  if (query?.includes('dryRun') !== true) noteAnswer(memory, path, answer.body)
  return answer
}

async function editedBody(side: Side, memory: SideMemory, edit: NonNullable<RequestStep['edit']>): Promise<Json> {
  let base = memory.object(edit.of, 'first')
  if (edit.at === 'now') {
    const { code, body } = await side.send({ method: 'GET', path: edit.of })
    base = code === 200 && isJsonObject(body) ? body : base
  }
  return applyMergePatch(base ?? edit.otherwise, memory.resolve(edit.merge)) as JsonObject
}

function noteAnswer(memory: SideMemory, path: string, body: Json): void {
  if (isJsonObject(body) && Array.isArray(body['items'])) {
    for (const item of body['items'] as readonly Json[]) memory.note(path, item)
    return
  }
  memory.note(path, body)
}

const mostPages = 20

export async function performPages(side: Side, memory: SideMemory, step: PagesStep): Promise<WireAnswer[]> {
  const pages: WireAnswer[] = []
  let token = ''
  do {
    const query = [step.query, `limit=${step.limit}`, ...(token === '' ? [] : [`continue=${token}`])]
    const path = `${step.path}?${query.filter((part) => part !== undefined).join('&')}`
    const page = await side.send({ method: 'GET', path: memory.resolveText(path) })
    pages.push(page)
    const metadata = isJsonObject(page.body) && isJsonObject(page.body['metadata']) ? page.body['metadata'] : {}
    token = typeof metadata['continue'] === 'string' ? metadata['continue'] : ''
  } while (token !== '' && pages.length < mostPages)
  return pages
}

/** Items of a list do not say what they are; here they are told apart by it. */
export async function readBudgets(side: Side, namespace: string): Promise<WireAnswer> {
  const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
  const answer = await side.send({ method: 'GET', path })
  const { items = [] } = answer.body as { readonly items?: readonly JsonObject[] }
  return { code: answer.code, body: { items: items.map((item) => ({ ...item, kind: 'PodDisruptionBudget' })) } }
}

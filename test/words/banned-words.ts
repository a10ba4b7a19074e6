export interface BannedWord {
  readonly word: RegExp
  readonly sayInstead: string
}

/** Words that only their authors understood, and what an operator says to another at 3 a.m. */
export const bannedWords: readonly BannedWord[] = [
  { word: /\blook(s|ed|ing)?\b/i, sayInstead: 'snapshot, poll, reconcile, read, check, search' },
  { word: /\b(tells?|telling|told|news)\b/i, sayInstead: 'notify, report, show, record an event' },
  { word: /\bstor(y|ies)\b/i, sayInstead: 'scenario, details' },
  { word: /\bstages?\b/i, sayInstead: 'harness, step, phase' },
  { word: /\b(boards?|cards?|pieces?)\b/i, sayInstead: 'view, panel, part' },
  {
    word: /\b(in turn|tak(es?|ing) turns|(its|their|the|a) turns?|turn of)\b/i,
    sayInstead: 'queued, position in queue',
  },
  {
    word: /\bg(ive|ives|iven|iving|ave)( \S+){0,3} back\b/i,
    sayInstead: 'released (by its holder), restored (put back)',
  },
  { word: /\bon (its|the|their) way\b/i, sayInstead: 'restarting, updating, in flight' },
  { word: /(?<!break[- ])\bglass\b/i, sayInstead: 'break-glass override until …' },
  { word: /\b(opinions?|trials?)\b/i, sayInstead: 'ok-to-stop check, ok-to-stop probe' },
  { word: /\b(shaky|homeless)\b/i, sayInstead: 'not ready, node cordoned' },
  { word: /\bspar(e|es|ed|ing)\b/i, sayInstead: 'allows, not needed, needs' },
  { word: /\bbur(y|ies|ied|ying)\b/i, sayInstead: 'purge, release' },
  { word: /\bsightings?\b|\bsigns? of\b/i, sayInstead: 'eviction attempt, heartbeat' },
  { word: /\b(silent|silence)\b/i, sayInstead: 'NotReady (a node), does not answer (Ceph)' },
  { word: /\bnobody\b/i, sayInstead: 'no user, no client, no controller; or name the state' },
  { word: /\bsomebody\b/i, sayInstead: 'another user, another client' },
  { word: /\bwhoever\b/i, sayInstead: 'the holder, the requester, its controller' },
  { word: /\basks? no budget\b/i, sayInstead: 'bypasses the budget' },
  { word: /\b(we|us|our|ours)\b/, sayInstead: 'Cofferdam, the operator' },
  { word: /\breckon\w*/i, sayInstead: 'calculation' },
  { word: /\b(his|him)\b/i, sayInstead: 'their, its' },
  { word: /\banew\b/i, sayInstead: 'again' },
  { word: /\b(can|could|to) (not )?be had\b/i, sayInstead: 'acquired, available' },
  { word: /\barbiter\b/i, sayInstead: 'ledger' },
  { word: /\bat night\b/i, sayInstead: 'name who reads it' },
  { word: /\bmakes? no sense\b/i, sayInstead: 'is invalid' },
]

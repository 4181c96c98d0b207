/** English: the evidence for a promotion. */
export const en = {
  collect: 'Collect the evidence',
  collecting: 'Collecting',
  collectedAt: (at: string) => `Collected ${at}`,
  asSandbox: 'while in the sandbox',
  asLive: 'while live',
  notCollected: 'No evidence was collected yet.',
  evidenceFailed: 'The evidence could not be read',
  connection: 'Connection',
  score: 'Deliverability test',
  noTest: 'no test',
  scoreOf: (score: number, grade: string) => `${String(score)} of 100, grade ${grade}`,
  showReport: 'Show the report',
  of: (n: number) => (n === 1 ? 'Of 1 message' : `Of ${String(n)} messages`),
  notLookedUp: 'not looked up',
  testHint: 'Of a mail that was sent by this provider',
} as const

/** English: the list of traces. */
export const en = {
  density: 'Mail over time',
  relayed: 'relayed',
  captured: 'captured',
  below: 'failed or bounced, below the line',
  counted: (n: string, from: string, to: string) => `${n} sends, ${from} to ${to}`,
  now: 'now',
  since: 'From',
  until: 'Until',
  span: 'Time shown',
  hours: '24 h',
  days: (n: number) => `${String(n)} d`,
  wholeTime: 'Whole time',
  densityFailed: 'The figures could not be read',
  save: 'Save as CSV',
  loaded: (n: string) => `${n} traces loaded`,
} as const

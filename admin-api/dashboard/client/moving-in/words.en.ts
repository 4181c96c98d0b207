/** English: moving in from another service. */
import { number } from '../parts/time.ts'

const addresses = (n: number): string => (n === 1 ? '1 address' : `${number(n)} addresses`)
const templates = (n: number): string => (n === 1 ? '1 template' : `${number(n)} templates`)

export const en = {
  what: 'What comes along',
  whats: { addresses: 'Addresses', templates: 'Templates' },
  say: {
    addresses: 'Take along the addresses that another service sends no mail to.',
    templates: 'Take along the templates of another service.',
  },
  sayText: {
    addresses:
      'Bounces, complaints and blocked addresses become suppressions, unsubscribes become opt-outs where the service kept them by list. A file is counted first, and taking it again adds nothing twice.',
    templates:
      'Their variables, defaults, conditions and loops are translated, and programs go on calling them by the same name. A template with anything that has no counterpart is refused, with its place.',
  },
  needsRole: {
    addresses: 'Suppressions hold for the whole organization: an owner or an administrator takes them over.',
    templates: 'A role that changes templates takes them over.',
  },
  file: 'File',
  files: 'Files',
  listHint: 'CSV or JSON as the service gives it, up to 256 MiB and two million rows.',
  templateHint:
    'JSON as the service answers it, one template or many; or the HTML or the text of one template a file. Up to 16 MiB together.',
  service: 'Service',
  recognized: 'Recognized by the file',
  kind: 'What is in the file',
  bySelf: 'As the file says',
  kinds: {
    bounces: 'Bounces',
    blocks: 'Blocks',
    complaints: 'Complaints',
    unsubscribes: 'Unsubscribes',
    invalid: 'Invalid addresses',
    manual: 'Addresses blocked by hand',
    allowed: 'Allowed addresses',
  },
  list: 'List that unsubscribes are from',
  listNameHint: 'Left empty, what the service says. * is every list.',
  countFirst: 'Count what would be taken',
  lookFirst: 'See what would be taken',
  takeAddresses: (n: number) => `Take ${addresses(n)}`,
  takeTemplates: (n: number) => `Take ${templates(n)}`,
  stop: 'Stop',
  result: 'Result',
  wouldTake: (n: number) => `${addresses(n)} would be added.`,
  taken: (n: number) => `${addresses(n)} added.`,
  goesOn: (row: number) => (row === 0 ? 'The file is being read.' : `Up to row ${number(row)} so far.`),
  brokeOff: (row: number) => `It broke off behind row ${number(row)}. What came before is stored.`,
  continueFrom: (row: number) => `Continue from row ${number(row)}`,
  fileOf: (service: string) => `A file of ${service}.`,
  nothingYet: 'Nothing is stored yet.',
  new: 'New',
  added: 'Added',
  alreadyThere: 'There already',
  skipped: 'Skipped',
  refused: 'Refused',
  seeAddresses: 'See the imported addresses',
  notTaken: (n: number) => (n === 1 ? 'One row is not taken' : `${number(n)} rows are not taken`),
  results: { skipped: 'skipped', refused: 'refused' },
  lineOf: (line: string) => `line ${line}`,
  firstOnly: (n: number) => `The first ${number(n)} are shown; postern import suppressions FILE prints all.`,
  subject: 'Subject',
  subjectHint: 'Of templates that come as HTML or text.',
  replaces: 'A template that is here with other content gets a new version',
  tooLarge: 'These files are larger than 16 MiB together; take them in parts.',
  notJson: (name: string) => `${name} is not JSON.`,
  wouldTakeTemplates: (n: number) => `${templates(n)} would be taken.`,
  takenTemplates: (n: number) => `${templates(n)} taken.`,
  created: 'Created',
  updated: 'New versions',
  unchanged: 'Unchanged',
  outcomes: { created: 'created', updated: 'new version', unchanged: 'unchanged', refused: 'refused' },
} as const

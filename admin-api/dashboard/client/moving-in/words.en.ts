/** English: moving in from another service. */
import { number } from '../parts/time.ts'

const addresses = (n: number): string => (n === 1 ? '1 address' : `${number(n)} addresses`)
const templates = (n: number): string => (n === 1 ? '1 template' : `${number(n)} templates`)

export const en = {
  what: 'What to import',
  whats: { addresses: 'Addresses', templates: 'Templates' },
  say: {
    addresses: 'Bring over the suppression lists of another service.',
    templates: 'Bring over the templates of another service.',
  },
  sayText: {
    addresses:
      'Bounces, complaints and blocked addresses become suppressions. Unsubscribes become opt-outs where the service kept them by list. A file is counted before anything is stored, and importing it again adds nothing twice.',
    templates:
      'Variables, defaults, conditions and loops are translated, and programs go on calling templates by the same name. A template with anything that has no counterpart is refused, with its place.',
  },
  needsRole: {
    addresses: 'Suppressions hold for the whole organization: an owner or an administrator imports them.',
    templates: 'A role that changes templates imports them.',
  },
  file: 'File',
  files: 'Files',
  listHint: 'CSV or JSON as the service exports it, up to 256 MiB and two million rows.',
  templateHint:
    'JSON as the API of the service returns it, one template or many; or a file of HTML or text for each template. Up to 16 MiB together.',
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
  list: 'List of the unsubscribes',
  listNameHint: 'Leave empty for what the service says; * means all lists.',
  preview: 'Preview the import',
  takeAddresses: (n: number) => `Import ${addresses(n)}`,
  takeTemplates: (n: number) => `Import ${templates(n)}`,
  stop: 'Stop',
  result: 'Result',
  wouldTake: (n: number) => `${addresses(n)} would be added.`,
  taken: (n: number) => `${addresses(n)} added.`,
  goesOn: (row: number) => (row === 0 ? 'The file is being read.' : `${number(row)} rows so far.`),
  brokeOff: (row: number) => (row === 0 ? 'The import broke off.' : `Imported up to row ${number(row)}.`),
  countBrokeOff: 'The file was not counted to its end.',
  restIsLeft: 'The rest of the file was not read. What is stored stays, and importing it again adds nothing twice.',
  continueFrom: (row: number) => `Continue from row ${number(row)}`,
  fileOf: (service: string) => `A file of ${service}.`,
  nothingYet: 'Nothing is stored yet.',
  new: 'New',
  added: 'Added',
  alreadyThere: 'Already there',
  skipped: 'Skipped',
  refused: 'Refused',
  seeAddresses: 'See the imported addresses',
  notTaken: (n: number) => (n === 1 ? 'One row is not imported' : `${number(n)} rows are not imported`),
  results: { skipped: 'skipped', refused: 'refused' },
  lineOf: (line: string) => `line ${line}`,
  firstOnly: (n: number) => `The first ${number(n)} are shown; postern import suppressions FILE prints all.`,
  subject: 'Subject',
  subjectHint: 'Of templates that come as HTML or text.',
  replaces: 'Templates that are here with other content get a new version',
  tooLarge: 'These files are larger than 16 MiB together; import them in parts.',
  notJson: (name: string) => `${name} is not JSON.`,
  wouldTakeTemplates: (n: number) => `${templates(n)} would be imported.`,
  takenTemplates: (n: number) => `${templates(n)} imported.`,
  created: 'Created',
  updated: 'New versions',
  unchanged: 'Unchanged',
  outcomes: { created: 'created', updated: 'new version', unchanged: 'unchanged', refused: 'refused' },
} as const

/** GraphQL documents for attacks: near the limits, above them, and with as many errors as possible. */
import { getIntrospectionQuery } from 'graphql'
import { filled, type Attack } from './json-attacks.ts'

const size = 60_000
const many = (count: number, one: (index: number) => string): string => Array.from({ length: count }, (_, index) => one(index)).join(' ')

const asking = (title: string, query: () => string, variables?: () => object): Attack => ({
  title: `a document: ${title}`,
  bytes: () => Buffer.from(JSON.stringify({ query: query(), ...(variables && { variables: variables() }) })),
})

const doubling = (depth: number): string =>
  `{ me { ...F0 } } ${many(depth, (i) => `fragment F${i} on ProjectState { ...F${i + 1} ...F${i + 1} }`)} fragment F${depth} on ProjectState { name }`
const creation = 'mutation ($input: CreateSmtpCredentialInput!) { createSmtpCredential(input: $input) { id } }'
const allOfTypes =
  '{ __schema { types { name description kind fields { name description args { name description type { name ofType { name ofType { name } } } } type { name description fields { name description args { name description } } } } inputFields { name type { name inputFields { name description } } } enumValues { name description } } } }'

/** Creates each document again for each try. */
export const documentAttacks: readonly Attack[] = [
  asking('the usual introspection', () => getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true })),
  asking('all types of the schema', () => allOfTypes),
  asking('fields with near names', () => `{ ${many(199, (i) => `destinatoin${i}`)} }`),
  asking('arguments with near names', () => `{ traces(${many(400, (i) => `frist${i}: 1`)}) { nodes { traceId } } }`),
  asking('fields that contradict each other', () => `{ ${many(190, (i) => `traces(q: "${i}") { __typename }`)} }`),
  asking(
    'fields in fragments that contradict each other',
    () =>
      `{ ${many(12, (i) => `...F${i}`)} } ${many(12, (i) => `fragment F${i} on Query { ${many(14, (j) => `traces(q: "${i} ${j}") { __typename }`)} }`)}`,
  ),
  asking('fragments that double', () => doubling(150)),
  asking('many operations', () => many(300, (i) => `query A${i} { me { name } }`)),
  asking('many fragments', () => `{ me { name } } ${many(250, (i) => `fragment F${i} on ProjectState { name }`)}`),
  asking('many variables', () => `query (${many(390, (i) => `$a${i}: Int`)}) { me { name } }`),
  asking('many unknown types', () => `query (${many(390, (i) => `$a${i}: Proejct${i}`)}) { me { name } }`),
  asking('levels of fields', () => filled('{a', size)),
  asking('levels of lists', () => `{ me(a: ${filled('[', size)}`),
  asking('levels of types', () => `query ($a: ${filled('[', size)}`),
  asking('directives', () => `{ me ${filled('@a ', size)} { name } }`),
  asking('aliases', () => `{ ${many(650, (i) => `a${i}: me`)} }`),
  asking('comments', () => filled('#\n', size)),
  asking('one comment', () => `#${filled('x', size)}`),
  asking('a text that does not end', () => `{ me(a: "${filled('x', size)}`),
  asking('a block text', () => `{ me(a: """${filled(' x\n', size)}""") { name } }`),
  asking('escapes', () => `{ me(a: "${filled('\\u{1F600}', size)}") { name } }`),
  asking('a number without end', () => `{ traces(first: ${filled('1', size)}) { nodes { traceId } } }`),
  asking('a long name', () => `{ ${filled('a', size)} }`),
  asking('commas', () => filled(',', size)),
  asking(
    'values of the wrong sort',
    () => creation,
    () => ({ input: { allowedFromDomains: Array.from({ length: 25_000 }, () => 1) } }),
  ),
  asking(
    'unknown fields of an input',
    () => creation,
    () => ({ input: Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`labl${i}`, 1])) }),
  ),
  asking(
    'many unknown variables',
    () => '{ me { name } }',
    () => Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`a${i}`, 1])),
  ),
  asking(
    'full pages of everything',
    () =>
      '{ a: traces(first: 200) { nodes { traceId recipients { address status } project { name } destination { name } } } b: traces(first: 200) { nodes { traceId summary } } virtualInboxes { nodes { id } } }',
  ),
]

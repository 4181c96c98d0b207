/** The schema as text, for people and for clients that are generated: `node admin-api/graphql/schema-file.ts`. A test proves it current. */
import { writeFileSync } from 'node:fs'
import { printSchema } from 'graphql'
import { builtSchema } from './engine.ts'

const target = new URL('schema.graphql', import.meta.url)

/** The text of `schema.graphql`. */
export const schemaText = (): string => `${printSchema(builtSchema.schema)}\n`

if (import.meta.main) writeFileSync(target, schemaText())

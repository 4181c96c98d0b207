/**
 * Writes the schema as text, for people and for generated clients: `node admin-api/graphql/schema-file.ts`. A test checks that the file is
 * current.
 */
import { writeFileSync } from 'node:fs'
import { printSchema } from 'graphql'
import { builtSchema } from './engine.ts'

const target = new URL('schema.graphql', import.meta.url)

/** Returns the text of `schema.graphql`. */
export const schemaText = (): string => `${printSchema(builtSchema.schema)}\n`

if (import.meta.main) writeFileSync(target, schemaText())

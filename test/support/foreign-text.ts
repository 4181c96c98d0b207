/** A text for checks that something appears nowhere. */
import type { ExecutionContext } from 'ava'
import { Seeded } from './seeded.ts'

/**
 * Returns a text that no random value contains: ids, tokens, boundaries and base64 have no tilde. Addresses, headers, HTML, JSON and URLs
 * do not escape it. Each title gets another text.
 */
export const foreignText = ({ title }: Pick<ExecutionContext, 'title'>): string => `~${String(new Seeded(title).between(1000, 9999))}~`

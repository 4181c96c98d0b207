/** Reads the operator's certificate authorities, which are trusted in addition to the public ones. */
import { readFileSync } from 'node:fs'
import { ConfigInvalid } from '#config/settings/load.ts'

/**
 * Returns the certificates of a PEM file; null if `file` is null. The error `ConfigInvalid` names `variable`, the environment variable of
 * the setting.
 */
export function authoritiesIn(variable: string, file: string | null): string | null {
  if (file === null) return null
  try {
    const text = readFileSync(file, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new ConfigInvalid([`${variable}: ${file} cannot be read (${code}); check the path and its permissions.`])
  }
  throw new ConfigInvalid([`${variable}: ${file} must contain certificates in PEM form.`])
}

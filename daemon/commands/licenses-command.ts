/** `postern licenses`: prints the licences of third-party software in this program, or a bill of materials (CycloneDX). */
import { join } from 'node:path'
import { hasOwnFile, ownFileTime, readOwnFile } from '#config/own-files.ts'
import { billFile, billOfMaterials, licenceTexts, textsFile } from '../packaging/shipped-packages.ts'

/** Reads the files in a package. In a source checkout, generates them. */
export async function licences(asBill: boolean): Promise<string> {
  const path = join(import.meta.dirname, '../..', asBill ? billFile : textsFile)
  if (hasOwnFile(path)) return (await readOwnFile(path)).toString('utf8')
  if (!asBill) return licenceTexts()
  const changed = await ownFileTime(join(import.meta.dirname, '../../package-lock.json'))
  return billOfMaterials({ commit: 'unpackaged', committedAt: changed.toISOString() })
}

/** Checks the current draft with the service shortly after the last keystroke. */
import { useEffect, useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { asFault, type Read } from '../app/query.ts'
import type { TemplateCheck } from '../wire/api.d.ts'
import { contentOf, keepSample, keptSample, parseObject, sampleFor, type Draft } from './draft.ts'

export interface Finding {
  readonly path: string
  readonly message: string
  readonly line?: number
  readonly column?: number
}

export interface Check {
  readonly read: Read<TemplateCheck>
  /** Preview of the latest draft without errors. */
  readonly preview: TemplateCheck['preview']
  readonly problems: readonly Finding[]
  readonly warnings: readonly Finding[]
  readonly variables: readonly string[]
  /** Sample data as text: typed, or generated from the schema. */
  readonly sample: string
  readonly setSample: (sample: string) => void
}

const pauseMs = 250

export function useCheck(id: string, draft: Draft): Check {
  const [typed, setTyped] = useState(() => keptSample(id))
  const [variables, setVariables] = useState<readonly string[]>([])
  const [read, setRead] = useState<Read<TemplateCheck>>({ state: 'loading' })
  const [preview, setPreview] = useState<TemplateCheck['preview']>(null)
  const sample = typed === '' ? sampleFor(draft.schema, variables) : typed
  const values = parseObject(sample)
  const key = JSON.stringify([draft, sample])
  useEffect(() => {
    const aborter = new AbortController()
    const ask = async (): Promise<void> => {
      try {
        const body = { ...contentOf(draft), variables: values.isJson ? values.value : {} }
        const found = await call('POST /v1/templates/check', { body }, { signal: aborter.signal })
        const areNew = found.variables.join() !== variables.join() && found.variables.length > 0
        if (areNew) setVariables(found.variables)
        // the sample will be regenerated for new variables, so missing values are not an error of the draft
        if (areNew && typed === '' && sampleFor(draft.schema, found.variables) !== sample) return
        setRead({ state: 'ready', data: found })
        if (found.preview) setPreview(found.preview)
      } catch (error) {
        if (!aborter.signal.aborted) setRead({ state: 'failed', fault: asFault(error) })
      }
    }
    const timer = setTimeout(() => void ask(), read.state === 'loading' ? 0 : pauseMs)
    return () => {
      clearTimeout(timer)
      aborter.abort()
    }
  }, [key])
  const setSample = (next: string): void => {
    setTyped(next)
    keepSample(id, next)
  }
  const problems = read.state === 'failed' ? problemsOf(read.fault) : (read.data?.problems ?? [])
  return { read, preview, problems, warnings: read.data?.warnings ?? [], variables, sample, setSample }
}

/** Converts field errors of the service to findings, for example about an invalid schema or a long text. */
const problemsOf = (fault: ApiFault): readonly Finding[] =>
  fault.fields.size === 0 ? [{ path: '', message: fault.message }] : [...fault.fields].map(([path, message]) => ({ path, message }))

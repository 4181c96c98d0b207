/**
 * State of a form draft: changes apply at once and are saved after a short delay. Supports undo and redo, and never overwrites the changes
 * of others silently.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { checkDefinition, type CheckedDefinition } from '#core/forms/definition/check-definition.ts'
import { defaultSettings, defaultTheme, defaultThankYou, type Definition } from '#core/forms/definition/definition.ts'
import { call, type ApiFault } from '../app/api.ts'
import { asFault } from '../app/query.ts'
import type { FormDraft } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'

/** Returns a complete definition with defaults for missing parts. */
export function wholeOf(given: Readonly<Record<string, unknown>>): Definition {
  const { name, locale, translations, schema, theme, logic, thank_you: thanks, settings } = given as Partial<Definition>
  return {
    name: name ?? '',
    locale: locale ?? 'en',
    translations: translations ?? {},
    schema: schema ?? { version: 1, fields: [] },
    theme: { ...defaultTheme, ...theme },
    logic: logic ?? { version: 1, rules: [] },
    thank_you: { ...defaultThankYou, ...thanks },
    settings: { ...defaultSettings, ...settings },
  }
}

type Saving = { readonly state: 'saved' | 'unsaved' | 'saving' } | { readonly state: 'failed' | 'conflict'; readonly fault: ApiFault }

export interface Editing {
  readonly definition: Definition
  readonly check: CheckedDefinition
  /** Applies a change. Quick successive changes of the same place form one undo step. */
  readonly change: (to: (before: Definition) => Definition, place?: string) => void
  readonly undo: (() => void) | undefined
  readonly redo: (() => void) | undefined
  readonly saving: Saving
  readonly savedAt: string
  /** Saves pending changes now. Throws if the service rejects them. */
  readonly flush: () => Promise<void>
  /** Loads the saved draft in place of the local changes. Undo restores them. */
  readonly takeTheirs: () => Promise<void>
  /** Saves the local draft over the saved one. */
  readonly keepMine: () => void
  readonly retry: () => void
}

interface History {
  readonly past: readonly Definition[]
  readonly now: Definition
  readonly future: readonly Definition[]
}

const saveAfterMs = 700
const oneStepMs = 1500
const maxSteps = 100

function useHistory(first: Definition) {
  const [history, setHistory] = useState<History>({ past: [], now: first, future: [] })
  const last = useRef({ place: '', at: 0 })
  const change = (to: (before: Definition) => Definition, place = ''): void => {
    const at = performance.now()
    const isSame = place !== '' && place === last.current.place && at - last.current.at < oneStepMs
    last.current = { place, at }
    setHistory(({ past, now, future }) => {
      const next = to(now)
      if (next === now) return { past, now, future }
      return { past: isSame && past.length > 0 ? past : [...past.slice(-maxSteps), now], now: next, future: [] }
    })
  }
  const step = (isBack: boolean) => (): void => {
    last.current = { place: '', at: 0 }
    setHistory(({ past, now, future }) => {
      const [to] = isBack ? past.slice(-1) : future
      if (to === undefined) return { past, now, future }
      return isBack
        ? { past: past.slice(0, -1), now: to, future: [now, ...future] }
        : { past: [...past, now], now: to, future: future.slice(1) }
    })
  }
  return {
    definition: history.now,
    change,
    undo: history.past.length > 0 ? step(true) : undefined,
    redo: history.future.length > 0 ? step(false) : undefined,
  }
}

interface Saved {
  readonly revision: number
  readonly text: string
  readonly at: string
}

export function useDraft(first: FormDraft): Editing {
  const { form_id: id } = first
  const { definition, change, undo, redo } = useHistory(useMemo(() => wholeOf(first.definition), []))
  const [saved, setSaved] = useState<Saved>(() => ({ revision: first.revision, text: JSON.stringify(definition), at: first.edited_at }))
  const [saving, setSaving] = useState<Saving>({ state: 'saved' })
  const check = useMemo(() => checkDefinition(definition), [definition])
  const text = useMemo(() => JSON.stringify(definition), [definition])
  const latest = useRef({ definition, text, saved })
  latest.current = { definition, text, saved }
  const inFlight = useRef<Promise<void>>(undefined)

  const save = async (over?: number): Promise<void> => {
    const sent = latest.current
    setSaving({ state: 'saving' })
    try {
      const headers = { 'if-match': `"${String(over ?? sent.saved.revision)}"` }
      const body = sent.definition as unknown as Input<'PUT /v1/forms/{id}/draft'>['body']
      const next = await call('PUT /v1/forms/{id}/draft', { path: { id }, body }, { headers })
      const now = { revision: next.revision, text: sent.text, at: next.edited_at }
      latest.current = { ...latest.current, saved: now }
      setSaved(now)
      setSaving({ state: 'saved' })
    } catch (error) {
      const fault = asFault(error)
      setSaving({ state: fault.code === 'draft_conflict' ? 'conflict' : 'failed', fault })
      throw error
    }
  }
  /** Runs one save at a time, and also saves changes made during a save. */
  const flush = async (): Promise<void> => {
    if (latest.current.text !== latest.current.saved.text) inFlight.current ??= saveAll()
    await inFlight.current
  }
  const saveAll = async (over?: number): Promise<void> => {
    try {
      if (over !== undefined) await save(over)
      while (latest.current.text !== latest.current.saved.text) await save()
    } finally {
      inFlight.current = undefined
    }
  }
  const isBlocked = saving.state === 'conflict' || saving.state === 'failed'
  useEffect(() => {
    if (text === saved.text || isBlocked) return undefined
    const timer = setTimeout(() => void flush().catch(() => undefined), saveAfterMs)
    return () => clearTimeout(timer)
  }, [text, saved.text, isBlocked])
  useLeaving(text !== saved.text, flush)
  const isChanged = text !== saved.text
  return {
    ...{ definition, check, change, undo, redo, flush },
    saving: isChanged && saving.state === 'saved' ? { state: 'unsaved' } : saving,
    savedAt: saved.at,
    retry: () => setSaving({ state: 'saved' }),
    async takeTheirs() {
      const theirs = await call('/v1/forms/{id}/draft', { path: { id } })
      const whole = wholeOf(theirs.definition)
      setSaved({ revision: theirs.revision, text: JSON.stringify(whole), at: theirs.edited_at })
      change(() => whole)
      setSaving({ state: 'saved' })
    },
    keepMine() {
      if (saving.state !== 'conflict') return
      inFlight.current ??= saveAll(Number(saving.fault.details['revision']))
      inFlight.current.catch(() => undefined)
    },
  }
}

/** Saves pending changes on unmount. If the tab closes first, the browser asks for confirmation. */
function useLeaving(isChanged: boolean, flush: () => Promise<void>): void {
  const latest = useRef({ isChanged, flush })
  latest.current = { isChanged, flush }
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (latest.current.isChanged) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => {
      removeEventListener('beforeunload', ask)
      if (latest.current.isChanged) void latest.current.flush().catch(() => undefined)
    }
  }, [])
}

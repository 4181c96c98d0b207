import test from '#test'
import { OwnListeners } from '../../../daemon/process/own-listeners.ts'

test('OwnListeners.has(): knows the listeners, and all own addresses for a wildcard', (t) => {
  const own = new OwnListeners()
  t.false(own.has('127.0.0.1', 25))
  own.set([
    { host: '127.0.0.1', port: 2525 },
    { host: '0.0.0.0', port: 25 },
  ])
  t.true(own.has('127.0.0.1', 2525))
  t.true(own.has('127.0.0.1', 25))
  t.false(own.has('127.0.0.1', 587))
  t.false(own.has('192.0.2.1', 25))
  t.false(own.has('127.0.0.2', 2525))
})

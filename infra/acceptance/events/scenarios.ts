import type { ExpectedStep, Scenario } from './scenario.ts';

/** https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events */
const events = 'https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events';
const terminateNotification =
  'https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-terminate-notification';
const evictions = 'https://learn.microsoft.com/azure/virtual-machines/linux/spot-cli#simulate-an-eviction';
const deallocations = 'https://learn.microsoft.com/azure/virtual-machines/states-billing';

const minute = 60;

/** The clocks of the VM and of this machine may differ by so much. */
const clocks = -60;

const announced = (latestMinutes = 10): ExpectedStep => ({
  phase: 'Scheduled',
  required: true,
  within: { after: 'request', earliest: clocks, latest: latestMinutes * minute },
});
/** `NotBefore` has whole seconds, and a poll comes once a second. */
const startsAtNotBefore = (required = true): ExpectedStep => ({
  phase: 'Started',
  required,
  within: { after: 'notBefore', earliest: -2, latest: 5 * minute },
});
const approved: ExpectedStep = {
  phase: 'Approved',
  required: true,
  within: { after: 'approval', earliest: clocks, latest: 2 * minute },
};
const startsOnceApproved = (required = true): ExpectedStep => ({
  phase: 'Started',
  required,
  within: { after: 'approval', earliest: clocks, latest: 5 * minute },
});
const completes = (required = true): ExpectedStep => ({
  phase: 'Completed',
  required,
  within: { after: 'previous', earliest: 0, latest: 30 * minute },
});

const restart = {
  operation: 'restart',
  event: { type: 'Reboot', source: 'User' },
  noticeSeconds: 15 * minute,
  afterwards: 'running',
  simulated: 'user-reboot',
  source: events,
} as const;
const redeploy = {
  operation: 'redeploy',
  event: { type: 'Redeploy', source: 'User' },
  noticeSeconds: 10 * minute,
  afterwards: 'running',
  simulated: 'user-redeploy',
  source: events,
} as const;
/** The machines have a terminate notification of five minutes. The documents do not say which source such an event has. */
const deletion = {
  operation: 'delete-instance',
  event: { type: 'Terminate', source: null },
  noticeSeconds: 5 * minute,
  afterwards: 'deleted',
  simulated: 'terminate',
  source: terminateNotification,
} as const;
const waited = { approvedBy: null, timeline: [announced(), startsAtNotBefore(), completes()] } as const;
const agreed = { approvedBy: 'self', timeline: [announced(), approved, startsOnceApproved(), completes()] } as const;
/** The other VM of the scale set approves, so the record of that is its own. */
const agreedBySibling = {
  approvedBy: 'sibling',
  timeline: [announced(), startsOnceApproved(), completes()],
  minutes: 8,
  longestMinutes: 30,
} as const;
/** The VM is deleted at the start of the event, so what comes after its announcement may not be seen on it. */
const deletedAtNotBefore = {
  approvedBy: null,
  timeline: [announced(), startsAtNotBefore(false), completes(false)],
  minutes: 12,
  longestMinutes: 30,
} as const;
const deletedOnceApproved = {
  approvedBy: 'self',
  timeline: [announced(), approved, startsOnceApproved(false), completes(false)],
  minutes: 6,
  longestMinutes: 25,
} as const;

/** Those of one VM in the order in which they are played. */
export const scenarios: readonly Scenario[] = [
  {
    id: 'restart-approved',
    title: 'a user restarts the VM, and it approves',
    role: 'single',
    ...restart,
    ...agreed,
    minutes: 8,
    longestMinutes: 30,
  },
  {
    id: 'restart',
    title: 'a user restarts the VM, and no one approves',
    role: 'single',
    ...restart,
    ...waited,
    minutes: 22,
    longestMinutes: 45,
  },
  {
    id: 'redeploy-approved',
    title: 'a user redeploys the VM, and it approves',
    role: 'single',
    ...redeploy,
    ...agreed,
    minutes: 15,
    longestMinutes: 45,
  },
  {
    id: 'redeploy',
    title: 'a user redeploys the VM, and no one approves',
    role: 'single',
    ...redeploy,
    ...waited,
    minutes: 25,
    longestMinutes: 60,
  },
  {
    id: 'deallocate',
    title: 'a user deallocates the VM',
    role: 'single',
    operation: 'deallocate',
    approvedBy: null,
    // Only restart and redeploy are named among the operations of users that are announced.
    event: null,
    noticeSeconds: null,
    timeline: [],
    afterwards: 'stopped',
    simulated: null,
    minutes: 15,
    longestMinutes: 10,
    source: deallocations,
  },
  {
    id: 'evict',
    title: 'Azure evicts the Spot VM, as simulate-eviction asks for',
    role: 'spot',
    operation: 'evict',
    approvedBy: null,
    event: { type: 'Preempt', source: 'Platform' },
    noticeSeconds: 30,
    // The eviction comes within 30 minutes of the request.
    timeline: [announced(35), startsAtNotBefore(false), completes(false)],
    afterwards: 'stopped',
    simulated: 'preempt',
    minutes: 20,
    longestMinutes: 45,
    source: evictions,
  },
  {
    id: 'restart-uniform',
    title: 'a user restarts an instance of the uniform scale set, and the other one approves',
    role: 'uniform',
    ...restart,
    ...agreedBySibling,
  },
  {
    id: 'delete-uniform-approved',
    title: 'a user deletes an instance of the uniform scale set, and it approves',
    role: 'uniform',
    ...deletion,
    ...deletedOnceApproved,
  },
  {
    id: 'delete-uniform',
    title: 'a user deletes an instance of the uniform scale set, and no one approves',
    role: 'uniform',
    ...deletion,
    ...deletedAtNotBefore,
  },
  {
    id: 'restart-flexible',
    title: 'a user restarts a VM of the flexible scale set, and the other one approves',
    role: 'flexible',
    ...restart,
    ...agreedBySibling,
  },
  {
    id: 'delete-flexible-approved',
    title: 'a user deletes a VM of the flexible scale set, and it approves',
    role: 'flexible',
    ...deletion,
    ...deletedOnceApproved,
  },
  {
    id: 'delete-flexible',
    title: 'a user deletes a VM of the flexible scale set, and no one approves',
    role: 'flexible',
    ...deletion,
    ...deletedAtNotBefore,
  },
  {
    id: 'windows-restart',
    title: 'a user restarts the Windows VM, and it approves',
    role: 'windows',
    ...restart,
    ...agreed,
    minutes: 12,
    longestMinutes: 40,
  },
];

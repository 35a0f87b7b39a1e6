import { expect, test } from 'vitest';
import { isAnswer, refusalIn, transience } from '../../../infra/acceptance/az-errors.ts';

/** Standard error of the Azure CLI, as its issues and Microsoft's documentation show it. */
const outputs = [
  {
    name: 'an error that the CLI did not expect',
    stderr:
      'ERROR: The command failed with an unexpected error. Here is the traceback:\nERROR: HTTP Error: 400\nTraceback (most recent call last):\n  File "custom.py", line 1, in invoke\nmsal.exceptions.MsalServiceError: HTTP Error: 400\nTo check existing issues, please visit: https://github.com/Azure/azure-cli/issues',
    code: null,
    message: 'HTTP Error: 400',
    transient: null,
  },
  {
    // Seen with eight calls at once after a login.
    name: 'a token that another call is writing',
    stderr: "ERROR: Can't find token from MSAL cache.\nTo re-authenticate, please run:\naz login",
    code: null,
    message: "Can't find token from MSAL cache.",
    transient: 'refused',
  },
  {
    name: 'an account whose tokens another call is writing',
    stderr: "ERROR: User 'user@example.com' does not exist in MSAL token cache. Run `az login`.",
    code: null,
    message: "User 'user@example.com' does not exist in MSAL token cache. Run `az login`.",
    transient: 'refused',
  },
  {
    name: 'an error with its code in parentheses',
    stderr:
      "ERROR: (AuthorizationFailed) The client 'a@b.c' does not have authorization to perform action 'x'.\nCode: AuthorizationFailed\nMessage: The client 'a@b.c' does not have authorization to perform action 'x'.",
    code: 'AuthorizationFailed',
    message: "The client 'a@b.c' does not have authorization to perform action 'x'.",
    transient: null,
  },
  {
    name: 'a deployment whose details say what failed',
    stderr:
      'ERROR: {"status":"Failed","error":{"code":"DeploymentFailed","target":"/subscriptions/x","message":"At least one resource deployment operation failed.","details":[{"code":"Conflict","message":"{\\r\\n  \\"error\\": {\\r\\n    \\"code\\": \\"QuotaExceeded\\",\\r\\n    \\"message\\": \\"Operation could not be completed as it results in exceeding approved standardBsFamily Cores quota.\\"\\r\\n  }\\r\\n}"}]}}',
    code: 'QuotaExceeded',
    message: 'Operation could not be completed as it results in exceeding approved standardBsFamily Cores quota.',
    transient: null,
  },
  {
    name: 'a template that is not valid',
    stderr:
      'ERROR: {"code": "InvalidTemplateDeployment", "message": "The template deployment is not valid.", "details": [{"code": "SkuNotAvailable", "message": "The requested size is not available."}]}',
    code: 'SkuNotAvailable',
    message: 'The requested size is not available.',
    transient: null,
  },
  {
    name: 'a request of az rest',
    stderr: 'ERROR: Forbidden({"error":{"code":"LinkedAuthorizationFailed","message":"It lacks a linked right."}})',
    code: 'LinkedAuthorizationFailed',
    message: 'It lacks a linked right.',
    transient: null,
  },
  {
    name: 'no code at all',
    stderr: "WARNING: something else\nERROR: Please run 'az login' to setup account.",
    code: null,
    message: "Please run 'az login' to setup account.",
    transient: null,
  },
  {
    name: 'the arguments are wrong',
    stderr:
      'ERROR: unrecognized arguments: --foo\n\nExamples from AI knowledge base:\naz vm list\nhttps://aka.ms/cli_ref\nRead more',
    code: null,
    message: 'unrecognized arguments: --foo',
    transient: null,
  },
  {
    name: 'too many requests',
    stderr: 'ERROR: (TooManyRequests) The request was throttled. Retry after 30 seconds.',
    code: 'TooManyRequests',
    message: 'The request was throttled. Retry after 30 seconds.',
    transient: 'refused',
  },
  {
    name: 'another operation',
    stderr:
      'ERROR: (AnotherOperationInProgress) Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: https://x.',
    code: 'AnotherOperationInProgress',
    message: /^Another operation on this or dependent resource is in progress/,
    transient: 'refused',
  },
  {
    name: 'a connection that was reset',
    stderr: "ERROR: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))",
    code: null,
    message: /^\('Connection aborted/,
    transient: 'unknown',
  },
  {
    name: 'no answer',
    stderr:
      "ERROR: HTTPSConnectionPool(host='management.azure.com', port=443): Max retries exceeded with url: /x (Caused by NewConnectionError(': Failed to establish a new connection: [Errno 110] Connection timed out'))",
    code: null,
    message: /^HTTPSConnectionPool/,
    transient: 'unknown',
  },
  { name: 'nothing', stderr: '', code: null, message: '', transient: null },
] as const;

test.for(outputs)('reads the standard error of az: $name', ({ stderr, code, message, transient }) => {
  const refusal = refusalIn(stderr);
  expect(refusal.code).toBe(code);
  if (typeof message === 'string') expect(refusal.message).toBe(message);
  else expect(refusal.message).toMatch(message);
  expect(transience(stderr)).toBe(transient);
});

test('cuts a long message', () => {
  expect(refusalIn(`ERROR: ${'x'.repeat(2000)}`).message).toHaveLength(501);
});

test.for(['port 4290 is not allowed', 'the size Standard_D502 is unknown', 'resource 5030 does not exist'])(
  'a number that contains a status is not transient: %s',
  (text) => {
    expect(transience(`ERROR: ${text}`)).toBeNull();
  },
);

test.for([
  { message: 'az rest: SemanticError: Failed to resolve table', exitCode: 1, expected: true },
  { message: 'az rest: no result within 10 minutes', exitCode: null, expected: false },
  { message: 'az rest: Read timed out', exitCode: 1, expected: false },
])('$message, exit code $exitCode: an answer of Azure is $expected', ({ message, exitCode, expected }) => {
  expect(isAnswer({ message, exitCode })).toBe(expected);
});

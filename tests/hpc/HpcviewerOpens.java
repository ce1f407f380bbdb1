/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a database as hpcviewer does, with its own reader (hpcdata 8.x): goes through the three views, the threads
 * and the time lines, and fails where the reader does.
 *   java -cp JARS HpcviewerOpens.java DIR */
import edu.rice.cs.hpcdata.db.*;
import edu.rice.cs.hpcdata.db.version4.*;
import edu.rice.cs.hpcdata.experiment.*;
import edu.rice.cs.hpcdata.experiment.metric.*;
import edu.rice.cs.hpcdata.experiment.scope.*;
import edu.rice.cs.hpcdata.experiment.source.*;
import edu.rice.cs.hpcdata.util.IProgressReport;
import java.io.File;

public class HpcviewerOpens {
	static long scopes;

	static void walk(Experiment e, Scope s)
	{
		scopes++;
		if (s instanceof CallSiteScope c && c.getLineScope().getSourceFile() != SourceFile.NONE)
			System.out.println("call " + s.getName() + " " + new File(c.getLineScope().getSourceFile().getName()).getName() + ":" +
					   (c.getLineScope().getFirstLineNumber() + 1));
		for (BaseMetric m : e.getMetrics())
			m.getValue(s).getValue();
		for (int i = 0; i < s.getSubscopeCount(); i++)
			walk(e, s.getSubscope(i));
	}

	/* What the flat view shows of procedures: exclusive, of the first metric. */
	static void procedures(Experiment e, Scope s)
	{
		if (s instanceof ProcedureScope && e.getVisibleMetrics().size() > 1)
			System.out.println("flat " + s.getName() + " " + Math.round(e.getVisibleMetrics().get(1).getValue(s).getValue()));
		for (int i = 0; i < s.getSubscopeCount() && !(s instanceof ProcedureScope); i++)
			procedures(e, s.getSubscope(i));
	}

	public static void main(String[] args) throws Exception
	{
		File dir = new File(args[0]);
		Experiment e = new Experiment();

		e.open(new LocalDatabaseRepresentation(new File(dir, "meta.db"), null, IProgressReport.dummy()));
		RootScope root = e.getRootScope(RootScopeType.CallingContextTree);
		walk(e, root);
		e.createCallersView(root, e.getRootScope(RootScopeType.CallerTree));
		RootScope flat = e.createFlatView(root, e.getRootScope(RootScopeType.Flat));
		walk(e, flat);
		procedures(e, flat);
		var threads = e.getThreadData();
		for (IdTuple id : threads.getIdTuples())
			System.out.println(id.toString(e.getIdTupleType()) + ": " + threads.getMetrics(id, root).length + " metrics");
		for (BaseMetric m : e.getRawMetrics())
			threads.getMetrics(root, m);
		threads.getRankStringLabels();
		threads.getEvenlySparseRankLabels();
		if (new File(dir, "trace.db").exists()) {
			DataSummary summary = new DataSummary(e.getIdTupleType());

			summary.open(dir.getPath());
			FileDB4 lines = new FileDB4(e, summary);
			lines.open(dir.getPath());
			for (IdTuple id : lines.getIdTuple(IFileDB.IdTupleOption.BRIEF))
				for (long p = lines.getMinLoc(id); p > 0 && p <= lines.getMaxLoc(id); p += 12) {
					lines.getLong(p);
					lines.getInt(p + 8);
				}
		}
		System.out.println(scopes + " scopes");
	}
}
